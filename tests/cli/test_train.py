import json

import numpy as np
import pytest

from plait.cli.main import main


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_run_is_shown_and_its_report_named(small, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["train", *[option for option in small if option != "--quiet"]]) == 0
    shown = capsys.readouterr().out
    assert "digits (test): 360 examples, 4 weight samples" in shown
    assert "accuracy" in shown
    assert shown.endswith("report: runs/digits-tied/report.html\n")
    assert (tmp_path / "runs" / "digits-tied" / "report.html").is_file()


def test_options_reach_the_run(trained):
    options = json.loads((trained / "config.json").read_text())["options"]
    assert options["model"]["widths"] == [4]
    assert (options["training"]["epochs"], options["training"]["samples"]) == (2, 4)


def test_a_finished_run_may_be_resumed(run, capsys):
    before = json.loads((run / "metrics.json").read_text())
    assert main(["train", "--resume", str(run), "--quiet"]) == 0
    assert json.loads((run / "metrics.json").read_text()) == before
    assert capsys.readouterr().out == f"report: {run / 'report.html'}\n"


def test_ctrl_c_says_how_to_go_on(small, tmp_path, monkeypatch, capsys):
    import contextlib

    from plait.fit import run as fit_run

    @contextlib.contextmanager
    def interrupts():
        yield lambda: True

    with monkeypatch.context() as patch:
        patch.setattr(fit_run, "interrupts", interrupts)
        assert main(["train", *small, "--output", str(tmp_path / "run")]) == 130
    said = capsys.readouterr().err
    assert f"go on with `plait train --resume {tmp_path / 'run'}`" in said
    assert list((tmp_path / "run" / "checkpoints").iterdir())
    assert main(["train", "--resume", str(tmp_path / "run"), "--quiet"]) == 0
    assert (tmp_path / "run" / "report.html").is_file()


NAN = "a,b,target\n1,2,0.5\n3,nan,1.5\n" + "1,2,3.5\n" * 20
NEGATIVE = "a,target\n" + "".join(f"{row},{row % 3 - 1}\n" for row in range(30))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--data", "digit"], "unknown data set 'digit' (did you mean 'digits'?)"),
        (["--data", "nowhere.csv"], "no file nowhere.csv"),
        (["--data", "nan.csv", "--target", "c"], "nan.csv has no column 'c'"),
        (["--data", "nan.csv"], "1 values of column 'b' are missing or NaN, the first in row 2"),
        (["--data", "negative.csv", "--task", "classification"], "class labels count from 0, got values from -1 to 1"),
        (["--data", "labels.npz", "--task", "classification"], "class labels are whole numbers or text, got 0.5"),
        (["--batch-size", "5000"], "--batch-size 5000 is larger than the data, which has 1257 training examples"),
        (["--samples", "0"], "--samples must be at least 1, got 0"),
        (["--train-samples", "0"], "--train-samples must be at least 1, got 0"),
        (["--epochs", "-3"], "--epochs must be at least 1, got -3"),
        (["--learning-rate", "nan"], "--learning-rate must be a positive number"),
        (["--posterior", "point", "--rank", "2"], "--rank is an option of the posteriors tied, low-rank"),
        (["--posterior", "tied", "--rank", "0"], "--rank must be a positive integer, got 0"),
        (["--network", "cnn", "--widths", "3"], "pictures of at least 1 x 1 pixels"),
        (["--data-dir", "nowhere"], "names the folder nowhere, which does not exist"),
        (["--output", "taken"], "taken exists already: choose another --output"),
        (["--resume", "taken"], "taken is not the folder of a run: it has no config.json"),
        (["--resume", "nowhere"], "nowhere is not the folder of a run: it does not exist"),
        (["--resume", "taken", "--epochs", "3"], "--resume goes on with the options that the run was begun with"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(argv, message, tmp_path, monkeypatch, capsys, unchecked):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nan.csv").write_text(NAN)
    (tmp_path / "negative.csv").write_text(NEGATIVE)
    np.savez(tmp_path / "labels.npz", x=np.zeros((4, 2)), y=np.asarray([0, 0.5, 1, 2]))
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine").write_text("mine")
    before = files(tmp_path)
    assert main(["train", *argv]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert len(said.err.splitlines()) == 1
    assert said.out == ""
    assert files(tmp_path) == before
