import json

import numpy as np
import pytest

from plait.cli.main import main


def test_numbers_and_reliability_are_shown_and_written(run, capsys):
    argv = ["evaluate", str(run), "--samples", "2", "--out-of-distribution", "rotated", "--by-sample"]
    assert main(argv) == 0
    shown = capsys.readouterr().out
    for text in ("calibration error", "standard error", "over samples", "AUROC", "mutual information", "reliability"):
        assert text in shown
    assert json.loads((run / "metrics.json").read_text())["out_of_distribution"]["data"] == "rotated"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--samples", "0"], "--samples must be a positive integer, got 0"),
        (["--data", "diabetes"], "diabetes is a regression, but the run is of digits, a classification"),
        (["--data", "labels.npz"], "the run knows the classes 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, but targets are 10, 11"),
        (["--out-of-distribution", "diabetes"], "inputs have the shape (10,), but the network takes (8, 8)"),
    ],
)
def test_bad_input_is_one_line_and_leaves_the_numbers(argv, message, run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.savez("labels.npz", x=np.zeros((12, 8, 8)), y=np.arange(12))
    before = (run / "metrics.json").read_text()
    assert main(["evaluate", str(run), *argv]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert (run / "metrics.json").read_text() == before


def test_a_folder_that_is_no_run(tmp_path, capsys):
    assert main(["evaluate", str(tmp_path)]) == 2
    assert "is not the folder of a run" in capsys.readouterr().err
