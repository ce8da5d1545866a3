"""Bernoulli against scipy and by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import bernoulli

from plait.likelihood import Bernoulli


def test_log_prob_equals_scipy_and_sums_the_event(seed):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(3, 5, 4)).astype(np.float32)
    y = rng.integers(0, 2, size=(5, 4))
    expected = bernoulli.logpmf(y, 1 / (1 + np.exp(-logits.astype(float)))).sum(-1)
    np.testing.assert_allclose(Bernoulli().log_prob(logits, y), expected, rtol=1e-5)
    assert Bernoulli().log_prob(logits[0, :, 0], y[:, 0].astype(bool)).shape == (5,)


def test_certain_predictions_keep_their_small_loss():
    logits = jnp.asarray([60.0, -60.0])
    y = jnp.asarray([1.0, 0.0])
    np.testing.assert_allclose(Bernoulli().log_prob(logits, y), -np.exp(-60.0) * np.ones(2), rtol=1e-5)
    slope = jax.grad(lambda z: Bernoulli().log_prob(z, 1 - y).sum())(logits)
    np.testing.assert_allclose(slope, [-1.0, 1.0])


def test_moments_and_entropy():
    probs = np.asarray([0.1, 0.5, 0.999])
    logits = jnp.asarray(np.log(probs / (1 - probs)), jnp.float32)
    np.testing.assert_allclose(Bernoulli().mean(logits), probs, rtol=1e-5)
    np.testing.assert_allclose(Bernoulli().variance(logits), probs * (1 - probs), rtol=1e-3)
    np.testing.assert_allclose(Bernoulli().entropy(logits), bernoulli.entropy(probs), rtol=1e-3)
    np.testing.assert_allclose(Bernoulli().entropy(jnp.asarray([-jnp.inf, jnp.inf, 1e5])), 0)


def test_samples_have_the_predicted_frequency(key):
    draws = Bernoulli().sample(key, jnp.full(20_000, np.log(0.2 / 0.8), jnp.float32))
    assert set(np.unique(draws)) <= {0.0, 1.0}
    np.testing.assert_allclose(draws.mean(), 0.2, atol=5 * np.sqrt(0.16 / 20_000))


@pytest.mark.parametrize(
    ("y_shape", "dtype", "says"),
    [((8,), np.int32, r"y\[:, None\]"), ((8, 2), np.int32, "agree"), ((8, 1), np.complex64, "convert the targets")],
)
def test_check_says_what_is_needed(y_shape, dtype, says):
    with pytest.raises(ValueError, match=says):
        Bernoulli().check((8, 1), y_shape, dtype)


def test_check_accepts_what_fits():
    Bernoulli().check((8, 4), (8, 4), np.bool_)
    Bernoulli().check((8,), (8,), np.float32)
    Bernoulli().check_targets(np.asarray([True, False]), (2,))
    assert Bernoulli().num_outputs(3) == 3


def test_targets_other_than_0_and_1_are_located():
    with pytest.raises(ValueError, match=r"1 of 2 targets wrong.*y\[0, 0\] = 0.5, is neither 0 nor 1"):
        Bernoulli().check_targets(np.asarray([[0.5], [1.0]]), (2, 1))


def test_the_last_axis_of_one_is_named():
    with pytest.raises(ValueError, match=r"y\[:, 0\]"):
        Bernoulli().check((8,), (8, 1), np.int32)
