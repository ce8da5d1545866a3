import dataclasses
import types

import numpy as np
import pytest

from plait.recipes.uci import training
from plait.recipes.uci.methods import METHODS
from plait.recipes.uci.training import Case, run_part


@pytest.mark.parametrize("method", ["ensemble", "dropout", "nng-mvg", "pbp"])
def test_a_part_is_trained_once_and_scored_in_the_units_of_the_data(method, protocol, data_dir, tmp_path, monkeypatch):
    case = Case("yacht", method, 1)
    found = run_part(protocol, case, tmp_path, data_dir=data_dir, seed=0)
    assert found.rmse.shape == found.log_likelihood.shape == (2,)
    # Targets have a deviation of about 2, and so few steps do not get far.
    assert 0.05 < found.rmse.min() < found.rmse.max() < 50
    assert np.isfinite(found.log_likelihood).all()
    assert (found.failed, found.size) == ((), 36)
    if method != "pbp":
        assert found.curve.shape == (2, 2)
        assert found.steps.tolist() == [3, 6]
        np.testing.assert_allclose(found.seconds_at[-1], found.seconds, rtol=1e-6)
    assert not (tmp_path / case.folder / "checkpoints").exists()
    monkeypatch.setattr(training, "fit", None)
    monkeypatch.setattr(training.pbp, "train_and_predict", None)
    again = run_part(protocol, case, tmp_path, data_dir=data_dir, seed=0)
    np.testing.assert_array_equal(again.rmse, found.rmse)
    with pytest.raises(ValueError, match=r"other settings: choose another .*\n  epochs"):
        run_part(dataclasses.replace(protocol, epochs=3), case, tmp_path, data_dir=data_dir, seed=0)


def test_ctrl_c_ends_the_study(protocol, data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(training, "fit", lambda *_, **__: types.SimpleNamespace(interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        run_part(protocol, Case("yacht", "bbb", 1), tmp_path, data_dir=data_dir, seed=0)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.optimizer is not None])
def test_every_method_can_be_built(name, protocol):
    plan = training.Plan(protocol, 36, 6)
    method = METHODS[name]
    assert method.family(plan) is not None
    assert hasattr(method.optimizer(plan), "step")
