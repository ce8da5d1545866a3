"""Truncated standard deviations: low rank, above the floor, and a model that still works."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.analysis import truncate


def test_full_rank_is_the_identity(bnn: plait.BayesianModel):
    same = truncate(bnn, 100, floor=1e-6)
    for path, posterior in bnn.posteriors.items():
        np.testing.assert_allclose(same.posteriors[path].std, posterior.std, rtol=1e-5)
        np.testing.assert_array_equal(same.posteriors[path].mean, posterior.mean)


@pytest.mark.parametrize(
    "family", [plait.MeanField(0.1, "softplus", 0.12), plait.MeanField(0.1), plait.Tied(2, 0.1, 0.5)]
)
def test_the_approximation_takes_the_place_of_what_was_trained(tools, family: plait.Family):
    bnn = tools.build(family)
    rank_one = truncate(bnn, 1)
    trained, new = bnn.posteriors["conv"], rank_one.posteriors["conv"]
    left, values, right = np.linalg.svd(np.asarray(trained.std, np.float64).reshape(18, 8))
    expected = np.minimum(values[0] * np.outer(left[:, 0], right[0]), getattr(trained, "max_scale", None) or np.inf)
    np.testing.assert_allclose(new.std.reshape(18, 8), expected, rtol=1e-4)
    assert type(new).__name__ == "MeanFieldPosterior"
    assert rank_one.posteriors["bias"] is bnn.posteriors["bias"]
    row = next(row for row in rank_one.sites if row.path == "conv")
    assert (row.posterior, row.num_params) == ("MeanField", 2 * 144)


def test_the_kl_depends_on_a_floor_that_binds(tools):
    # Erratum E16: entries that the decomposition makes negative have whatever standard deviation the floor says.
    rng = np.random.default_rng(0)
    bnn = tools.with_stds(tools.build(), "first", np.exp(2.5 * rng.normal(size=(8, 10)) - 3))
    low, high = (truncate(bnn, {"first": 3}, floor=floor) for floor in (1e-6, 1e-4))
    stds = [np.asarray(cut.posteriors["first"].std) for cut in (low, high)]
    held = stds[0] < 1.01e-6
    assert held.any()
    np.testing.assert_allclose(stds[1][held], 1e-4, rtol=1e-4)
    np.testing.assert_allclose(stds[1], np.maximum(stds[0], 1e-4), rtol=1e-4)
    # -log sigma is what the KL has of a tiny sigma.
    expected = np.sum(np.log(stds[1].astype(float) / stds[0]))
    assert float(low.kl() - high.kl()) == pytest.approx(expected, rel=1e-3)
    assert expected >= held.sum() * np.log(99)


def test_patterns_choose_what_is_truncated(bnn: plait.BayesianModel):
    cut = truncate(bnn, {"conv": 2, "last": 1})
    assert cut.posteriors["first"] is bnn.posteriors["first"]
    assert np.linalg.matrix_rank(cut.posteriors["conv"].std.reshape(18, 8), tol=1e-4) == 2
    assert np.linalg.matrix_rank(cut.posteriors["last"].std, tol=1e-4) == 1


def test_a_truncated_model_predicts_and_is_evaluated(tools, key: jax.Array):
    cut = truncate(tools.build(), 1).with_likelihood(plait.Gaussian(0.1))
    data = (jnp.ones((3, 4, 4, 2)), jnp.zeros((3, 6)))
    found = plait.evaluate(cut, data, key=key, dataset_size=10, num_samples=4)
    assert found.negative_elbo is not None
    assert np.isfinite(found.negative_elbo.value)


def test_what_makes_no_sense_is_refused(tools, bnn: plait.BayesianModel):
    with pytest.raises(ValueError, match="`floor` is a standard deviation and must be a positive number, got 0"):
        truncate(bnn, 1, floor=0.0)
    with pytest.raises(ValueError, match="`rank` must be a positive integer, got 0"):
        truncate(bnn, 0)
    with pytest.raises(ValueError, match="`rank`: the pattern 'head' matches no weight"):
        truncate(bnn, {"head": 1})
    with pytest.raises(ValueError, match="under MeanField or Tied: there is nothing to truncate"):
        truncate(tools.build(plait.Point()), 1)
