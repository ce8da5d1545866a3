"""Checkpoints, resuming, and Ctrl-C."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import plait


def rows_but_speed(history):
    return [{name: value for name, value in row.items() if name != "steps_per_second"} for row in history]


def test_a_resumed_run_is_the_run_that_never_stopped_bit_for_bit(problem, tmp_path):
    options = {"validation": problem.data, "kl_schedule": plait.linear_annealing(steps=12), "eval_every": 2}
    options |= {"likelihood": plait.Gaussian("learned")}
    whole = problem.fit(epochs=4, **options)
    first = problem.fit(epochs=2, checkpoint=tmp_path, **options)
    second = problem.fit(epochs=4, checkpoint=tmp_path, resume=True, **options)
    assert (first.step, second.step) == (10, 20)
    problem.assert_equal(second.model, whole.model)
    problem.assert_equal(second.state.optimizer, whole.state.optimizer)
    assert rows_but_speed(second.history) == rows_but_speed(whole.history)
    assert second.checkpoint == tmp_path / "step-000000020"


def test_resuming_within_an_epoch_changes_nothing_either(problem, tmp_path):
    whole = problem.fit(epochs=4)
    problem.fit(steps=7, checkpoint=tmp_path)
    second = problem.fit(epochs=4, checkpoint=tmp_path, resume=True)
    problem.assert_equal(second.model, whole.model)
    assert rows_but_speed(second.history) == rows_but_speed(whole.history)


def test_early_stopping_survives_a_resume(problem, tmp_path):
    rule = plait.EarlyStopping(patience=3, min_delta=100.0)
    options = {"validation": problem.data, "early_stopping": rule}
    first = problem.fit(epochs=2, checkpoint=tmp_path, **options)
    second = problem.fit(epochs=9, checkpoint=tmp_path, resume=True, **options)
    # The first look improves on nothing at all; three more do not improve by 100.
    assert (first.ending, second.ending, second.step, second.best.step) == ("finished", "early stopping", 20, 5)
    problem.assert_equal(second.model, problem.fit(epochs=1).model)
    again = problem.fit(epochs=9, checkpoint=tmp_path, resume=True, **options)
    assert (again.ending, again.step) == ("early stopping", 20)


def test_checkpoints_are_written_every_so_many_steps_and_at_the_end(problem, tmp_path):
    fit = problem.fit(epochs=4, checkpoint=tmp_path, checkpoint_every=6, keep=9)
    names = [f"step-{step:09d}" for step in (6, 12, 18, 20)]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert fit.checkpoint == tmp_path / names[-1]


def test_resuming_without_a_checkpoint_starts_from_scratch(problem, tmp_path):
    fit = problem.fit(checkpoint=tmp_path / "new", resume=True)
    problem.assert_equal(fit.model, problem.fit().model)
    done = problem.fit(checkpoint=tmp_path / "new", resume=True)
    problem.assert_equal(done.model, fit.model)
    assert done.step == 20


def test_a_folder_with_checkpoints_is_not_written_over(problem, tmp_path):
    problem.fit(epochs=1, checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"has checkpoints of an earlier run, up to step 5: pass `resume=True`"):
        problem.fit(epochs=1, checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"`resume` goes on from the last checkpoint in a folder: say which"):
        problem.fit(epochs=1, resume=True)


def test_a_run_with_other_settings_is_not_gone_on_with(problem, tmp_path):
    problem.fit(epochs=1, checkpoint=tmp_path)
    options = {"epochs": 2, "checkpoint": tmp_path, "resume": True}
    with pytest.raises(
        ValueError, match=r"other settings:\n  batch_size: saved 8, wanted 10\n  steps_per_epoch: saved"
    ):
        problem.fit(batch_size=10, **options)
    with pytest.raises(ValueError, match=r"other settings:\n  key: saved \[0, 7\], wanted \[0, 8\]"):
        problem.fit(key=jax.random.key(8), **options)
    with pytest.raises(ValueError, match=r"(?s)of another model or optimizer.*best/"):
        problem.fit(validation=problem.data, early_stopping=3, **options)


def test_a_folder_that_cannot_be_written_is_found_before_training(problem, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="no checkpoints can be written"):
        problem.fit(checkpoint=tmp_path / "file", callbacks=lambda record: pytest.fail("trained"))


def test_ctrl_c_saves_and_ends_cleanly(problem, tmp_path):
    def press(record):
        if record.step == 10:
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    fit = problem.fit(epochs=8, checkpoint=tmp_path, checkpoint_every=1000, callbacks=press)
    assert (fit.interrupted, fit.ending, fit.step) == (True, "interrupted", 10)
    assert fit.checkpoint == tmp_path / "step-000000010"
    assert signal.getsignal(signal.SIGINT) is before
    problem.assert_equal(fit.model, problem.fit(epochs=2).model)
    whole = problem.fit(epochs=8, checkpoint=tmp_path, checkpoint_every=1000, resume=True)
    problem.assert_equal(whole.model, problem.fit(epochs=8).model)
    assert not whole.interrupted


KILLED = """
import importlib.util, os, signal, sys
spec = importlib.util.spec_from_file_location("shared", sys.argv[1])
shared = importlib.util.module_from_spec(spec)
sys.modules["shared"] = shared
spec.loader.exec_module(shared)

def look(event, arguments):
    if event == "os.rename" and "step-000000010/arrays.orbax" in str(arguments[0]):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(look)
import jax
problem = shared.Problem(shared.make_model(jax.random.key(1)), shared.make_data())
problem.fit(epochs=4, checkpoint=sys.argv[2], checkpoint_every=5)
"""


def test_a_run_that_is_killed_while_it_saves_goes_on_bit_for_bit(problem, tmp_path):
    shared = Path(__file__).parent / "conftest.py"
    command = [sys.executable, "-c", KILLED, str(shared), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr.decode()[-2000:]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000000005", "step-000000010"]
    fit = problem.fit(epochs=4, checkpoint=tmp_path, checkpoint_every=5, resume=True)
    problem.assert_equal(fit.model, problem.fit(epochs=4).model)
    assert len(fit.history) == 4


def test_a_damaged_checkpoint_is_named_and_the_one_before_goes_on(problem, tmp_path):
    problem.fit(epochs=3, checkpoint=tmp_path, checkpoint_every=5)
    largest = max((tmp_path / "step-000000015").rglob("d/*"), key=lambda path: path.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-10])
    with pytest.raises(ValueError, match=r"delete the folder step-000000015 to go on from step 10"):
        problem.fit(epochs=3, checkpoint=tmp_path, resume=True)
    for path in sorted((tmp_path / "step-000000015").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (tmp_path / "step-000000015").rmdir()
    fit = problem.fit(epochs=3, checkpoint=tmp_path, resume=True)
    problem.assert_equal(fit.model, problem.fit(epochs=3).model)
    np.testing.assert_array_equal(fit.history["epoch"], [1, 2, 3])
