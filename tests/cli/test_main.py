import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import plait
import plait.recipes.running
from plait.cli.main import COMMANDS, main
from plait.fit import NonFiniteLoss


def test_python_m_plait_runs_and_says_what_is_wrong(tmp_path):
    command = [sys.executable, "-m", "plait", "train", "--data", "digit"]
    environment = os.environ | {"PYTHONPATH": str(Path(plait.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("plait train: unknown data set 'digit' (did you mean 'digits'?)")
    assert not list(tmp_path.iterdir())


def test_a_reader_that_has_seen_enough_is_no_error():
    environment = os.environ | {"PYTHONPATH": str(Path(plait.__file__).parents[1])}
    command = [sys.executable, "-m", "plait", "datasets"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_a_help_text(name, capsys):
    with pytest.raises(SystemExit):
        main([name, "--help"])
    shown = "\n".join(line.strip("│ ") for line in capsys.readouterr().out.splitlines())
    blocks = re.split(r"^(?=--[a-z])", shown, flags=re.MULTILINE)[1:]
    assert blocks or name == "inspect"
    for block in blocks:
        # A sentence, after the values that the option takes and before its default.
        assert re.search(r"[A-Z][a-z ].*[.]", block.split("(default")[0], re.DOTALL), block


@pytest.mark.parametrize("argv", [[], ["tran"], ["train", "--epochs", "many"], ["train", "--nonsense"], ["predict"]])
def test_what_cannot_be_read_is_exit_code_2(argv, capsys):
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    assert capsys.readouterr().err


def raises(error):
    def run(*args, **kwargs):
        raise error

    return run


def test_a_bug_shows_its_traceback(monkeypatch, tmp_path):
    for error in (RuntimeError("bug"), KeyError("bug"), ValueError("not ours"), ZeroDivisionError()):
        monkeypatch.setattr(plait.recipes.running, "train", raises(error))
        with pytest.raises(type(error)):
            main(["train", "--output", str(tmp_path / "run")])


def test_ctrl_c_is_exit_code_130(monkeypatch, capsys):
    monkeypatch.setattr(plait.recipes.running, "train", raises(KeyboardInterrupt()))
    assert main(["train"]) == 130
    assert capsys.readouterr().err == "plait train: stopped by Ctrl-C\n"


def test_a_loss_that_is_not_finite_is_exit_code_1(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(plait.recipes.running, "train", raises(NonFiniteLoss(3, ["KL of a"], tmp_path / "step")))
    assert main(["train"]) == 1
    assert "not finite at step 3" in capsys.readouterr().err


def test_a_full_disk_is_a_message(monkeypatch, capsys):
    monkeypatch.setattr(plait.recipes.running, "train", raises(OSError(28, "No space left on device", "runs")))
    assert main(["train"]) == 2
    assert "No space left on device" in capsys.readouterr().err
