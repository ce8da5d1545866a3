import csv

import numpy as np
import pytest

from plait.cli.main import main


def test_inputs_become_predictions_with_uncertainty(trained, tmp_path, capsys):
    np.savez(tmp_path / "in.npz", x=np.zeros((3, 8, 8)))
    argv = ["predict", str(trained), str(tmp_path / "in.npz"), str(tmp_path / "out.csv"), "--samples", "3"]
    assert main(argv) == 0
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3
    assert {"predicted", "p_0", "p_9", "entropy", "mutual_information"} <= set(rows[0])
    assert capsys.readouterr().out.startswith("3 predictions in ")
    assert main(argv) == 2
    assert "exists already: choose another name, or say --overwrite" in capsys.readouterr().err
    assert main([*argv, "--overwrite"]) == 0


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("nowhere.npz", "out.csv", "no file"),
        ("in.txt", "out.csv", "inputs are read from .npz and .csv files"),
        ("in.npz", "out.json", "predictions are written to .csv and .npz files"),
        ("wide.npz", "out.csv", "inputs have the shape (9,)"),
        ("nan.npz", "out.csv", "values that are NaN or infinite"),
        ("other.npz", "out.csv", "has no array 'x'"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(source, target, message, trained, tmp_path, capsys):
    (tmp_path / "in.txt").write_text("1")
    np.savez(tmp_path / "in.npz", x=np.zeros((1, 64)))
    np.savez(tmp_path / "wide.npz", x=np.zeros((1, 9)))
    np.savez(tmp_path / "nan.npz", x=np.full((1, 64), np.nan))
    np.savez(tmp_path / "other.npz", z=np.zeros((1, 64)))
    before = sorted(tmp_path.iterdir())
    assert main(["predict", str(trained), str(tmp_path / source), str(tmp_path / target), "--samples", "1"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert sorted(tmp_path.iterdir()) == before
