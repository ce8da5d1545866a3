import dataclasses
import itertools
import types

import numpy as np
import pytest

from plait.recipes.ktied import mlp, training
from plait.recipes.ktied.protocol import Start
from plait.recipes.ktied.training import train_judged, train_plain

TINY = dataclasses.replace(mlp.SMALL, epochs=2, batch_size=512, signal_steps=(3, 6), seeds=2)
START = Start(0.01, 1e-3)


@pytest.fixture(scope="module")
def dataset():
    return TINY.load()


def test_a_run_that_was_stopped_goes_on_and_one_that_is_done_is_read(dataset, tmp_path, monkeypatch):
    whole = train_judged(TINY, dataset, 2, tmp_path / "whole", seed=0)

    def stop(path, bnn):
        raise OSError("no space left")

    with monkeypatch.context() as context:
        context.setattr(training, "save", stop)
        with pytest.raises(OSError, match="no space left"):
            train_judged(TINY, dataset, 2, tmp_path / "parts", seed=0)
    parts = train_judged(TINY, dataset, 2, tmp_path / "parts", seed=0)
    np.testing.assert_array_equal(parts.history["loss"], whole.history["loss"])
    assert not (tmp_path / "parts" / "checkpoints").exists()
    with monkeypatch.context() as context:
        context.setattr(training, "fit", None)
        again = train_judged(TINY, dataset, 2, tmp_path / "parts", seed=0)
    assert again.seconds == parts.seconds > 0
    mean = "layers.1.weight"
    np.testing.assert_array_equal(again.model.posteriors[mean].mean, whole.model.posteriors[mean].mean)


def test_ctrl_c_ends_the_study(dataset, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "fit", lambda *_, **__: types.SimpleNamespace(interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        train_judged(TINY, dataset, 1, tmp_path, seed=0)
    with pytest.raises(KeyboardInterrupt):
        train_plain(TINY, dataset, 1, START, tmp_path / "plain", seed=0)


def test_a_folder_of_other_training_is_refused(dataset, tmp_path):
    train_judged(TINY, dataset, None, tmp_path, seed=0)
    with pytest.raises(ValueError, match=r"other settings: choose another .*\n  epochs"):
        train_judged(dataclasses.replace(TINY, epochs=3), dataset, None, tmp_path, seed=0)


@pytest.mark.parametrize("rank", [None, 1])
def test_training_without_annealing_records_signal_and_convergence(dataset, tmp_path, rank):
    found = train_plain(TINY, dataset, rank, START, tmp_path, seed=0)
    # Two steps an epoch, a look at the end of each.
    assert found.steps.tolist() == [2, 4, 6]
    assert found.curve.shape == (2, 3)
    assert np.all(found.at(6) < found.at(2))
    groups = ["log stds"] if rank is None else ["U", "V"]
    statistics = ["mean", *(f"median of {group}" for group in groups)]
    assert found.signal.keys() == set(itertools.product(("usual", "printed", "dimensionless"), statistics))
    assert all(values.shape == (2, 2) and np.all(values > 0) for values in found.signal.values())


def test_no_signal_is_recorded_where_no_weight_is_named(dataset, tmp_path):
    found = train_plain(dataclasses.replace(TINY, signal_weight=None), dataset, 1, START, tmp_path, seed=0)
    assert not found.signal
