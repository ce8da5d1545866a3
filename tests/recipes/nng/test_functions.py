import jax
import numpy as np
import pytest

from plait.recipes.nng import functions
from plait.recipes.nng.functions import find_functions
from plait.recipes.nng.methods import HMC, Training
from plait.recipes.nuts import Sampling

DATA, INPUTS = (np.zeros((2, 4, 3)), np.zeros((2, 4, 1))), np.zeros((2, 5, 3))


def find(method, **options):
    key = jax.random.key(0)
    return find_functions(method, Training(), Sampling(), 6, DATA, INPUTS, key=key, num_samples=7, **options)


def test_chains_are_thinned_where_asked_for(monkeypatch):
    monkeypatch.setattr(functions, "nuts_functions", lambda *given, key, num_samples: num_samples)
    assert find(HMC) is None
    assert find(HMC, thinned=True) == 7


def test_other_methods_are_trained_and_drawn_from(monkeypatch):
    monkeypatch.setattr(functions, "train_trials", lambda method, *given, key: method.name)

    def moments(models, x, keys, num_samples):
        assert (models, len(keys), num_samples) == ("k-tied", 2, 7)
        return x[..., 0], x[..., 1]

    monkeypatch.setattr(functions, "function_moments", moments)
    found = find("k-tied")
    assert found.mean.shape == found.variance.shape == (2, 5)
    assert found.agreement == []
    with pytest.raises(ValueError, match="unknown method 'PBP'"):
        find("PBP")
