"""Members, samples and components are averaged as probabilities; corrupted scores over types and severities."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.data import Pair
from plait.metrics import Estimate
from plait.recipes.rank1.scoring import CorruptedPictures, Result, from_json, log_probs, score, to_json


def model(weight: jax.Array) -> plait.BayesianModel:
    bnn = plait.bayesianize(
        {"w": weight}, jnp.ones((2, 3)), apply=lambda p, x: x @ p["w"], posterior=plait.Point(), key=jax.random.key(0)
    )
    return bnn.with_likelihood(plait.Categorical())


def test_an_ensemble_averages_probabilities(key: jax.Array):
    weights = jax.random.normal(key, (2, 3, 4))
    x = np.asarray(jax.random.normal(key, (5, 3)))
    found = log_probs([model(w) for w in weights], x, key=key, samples=2, batch_size=3)
    expected = jnp.mean(jax.nn.softmax(jnp.asarray(x)[None] @ weights), axis=0)
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-4, atol=1e-6)
    scores = score(found, np.array([0, 1, 2, 3, 0]))
    assert scores["nll"].value == pytest.approx(-found[range(5), [0, 1, 2, 3, 0]].mean())


def result(*errors: float) -> Result:
    def scores(error: float) -> dict[str, Estimate]:
        return {"nll": Estimate(error, 0.1), "accuracy": Estimate(1 - error, 0.1), "ece": Estimate(error / 2, 0.1)}

    return Result(scores(0.0), {"fog": [scores(e) for e in errors], "snow": [scores(2 * e) for e in errors]}, 7, 0.5)


def test_corrupted_scores_are_means_and_errors_are_relative():
    ours, base = result(0.1, 0.2), result(0.2, 0.2)
    assert ours.mean_corrupted("nll") == pytest.approx((0.1 + 0.2 + 0.2 + 0.4) / 4)
    assert ours.corruption_error(base) == pytest.approx(0.75)
    np.testing.assert_allclose(ours.at_severity("accuracy", 2), [0.8, 0.6])
    assert from_json(to_json(ours)) == ours


def test_corrupted_pictures_are_made_once(tmp_path, monkeypatch):
    pair = Pair(np.full((2, 8, 8), 0.5, np.float32), np.array([0, 1]))
    pictures = CorruptedPictures(pair, tmp_path / "corrupted", key=jax.random.key(0))
    found = pictures("contrast", 1)
    monkeypatch.setattr("plait.recipes.rank1.scoring.corrupt", None)
    np.testing.assert_array_equal(pictures("contrast", 1).x, found.x)
    np.testing.assert_allclose(found.x, 0.5, atol=1 / 255)
