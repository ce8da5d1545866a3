"""Poisson against scipy and by hand."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import poisson

from plait.likelihood import Poisson


def test_log_prob_equals_scipy(seed):
    rng = np.random.default_rng(seed)
    log_rate = rng.normal(size=(3, 5)).astype(np.float32)
    y = rng.poisson(2.0, size=5)
    np.testing.assert_allclose(Poisson().log_prob(log_rate, y), poisson.logpmf(y, np.exp(log_rate)), rtol=1e-4)


def test_a_rate_of_zero_makes_zero_certain():
    np.testing.assert_allclose(Poisson().log_prob(jnp.asarray([-jnp.inf]), jnp.asarray([0])), [0.0], atol=1e-6)


def test_mean_and_variance_are_the_rate(key):
    log_rate = jnp.full(20_000, np.log(3.0), jnp.float32)
    np.testing.assert_allclose(Poisson().mean(log_rate)[0], 3.0, rtol=1e-6)
    np.testing.assert_array_equal(Poisson().variance(log_rate), Poisson().mean(log_rate))
    draws = np.asarray(Poisson().sample(key, log_rate))
    np.testing.assert_allclose(draws.mean(), 3.0, atol=5 * np.sqrt(3 / 20_000))
    Poisson().check_targets(draws, log_rate.shape)


@pytest.mark.parametrize("bad", [-1.0, 1.5])
def test_targets_that_are_no_counts_are_located(bad):
    with pytest.raises(ValueError, match="not a count"):
        Poisson().check_targets(np.asarray([0.0, bad]), (2,))


def test_targets_that_are_not_finite_are_located():
    with pytest.raises(ValueError, match=r"y\[1\] = nan, is a target that is not a finite number"):
        Poisson().check_targets(np.asarray([0.0, np.nan]), (2,))


def test_check():
    Poisson().check((4,), (4,), np.int32)
    assert Poisson().num_outputs(2) == 2
    with pytest.raises(ValueError, match="log rate"):
        Poisson().check((4, 1), (4,), np.int32)
    with pytest.raises(ValueError, match="no entropy"):
        Poisson().entropy(jnp.zeros(3))
