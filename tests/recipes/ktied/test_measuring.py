"""Metrics of the two kinds of data, each model trained for a moment."""

import dataclasses
import json

import numpy as np
import pytest

from plait.data import Dataset, Pair
from plait.recipes.ktied import lenet, lstm
from plait.recipes.ktied.measuring import measure
from plait.recipes.ktied.training import train_judged


def reviews():
    rng = np.random.default_rng(0)
    words = rng.integers(0, 20, size=(64, 6)).astype(np.int32)
    pair = Pair(words, (words[:, :1] > 9).astype(np.float32))
    return Dataset("reviews", "binary", pair, pair, pair, vocabulary_size=20)


@pytest.mark.parametrize("module", [lenet, lstm], ids=["lenet", "lstm"])
def test_a_trained_network_is_measured_once(module, tmp_path, monkeypatch):
    protocol = dataclasses.replace(module.SMALL, epochs=1)
    dataset = reviews() if module is lstm else protocol.load()
    trained = train_judged(protocol, dataset, 1, tmp_path, seed=0)
    found = measure(protocol, dataset, lambda: trained.model, tmp_path / "metrics.json", seed=0)
    gibbs = found.metrics["negative_elbo"].value - found.kl_per_example
    # By Jensen's inequality.
    assert gibbs >= found.metrics["nll"].value > 0
    assert 0 <= found.metrics["accuracy"].value <= 1
    assert found.num_params == trained.model.num_params
    again = measure(protocol, dataset, lambda: pytest.fail("made again"), tmp_path / "metrics.json", seed=0)
    assert again == found
    assert json.loads((tmp_path / "metrics.json").read_text())["num_params"] == found.num_params
