"""Positive factors: scipy's log-normal, in density, moments and entropy."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.stats

from plait.posterior import LogNormalPosterior, MeanFieldPosterior
from plait.site import Layout

LAYOUT = Layout.vector((3,))
MEAN, STD = np.array([0.5, -1.0, 0.0]), np.array([0.3, 0.1, 0.7])
REFERENCE = scipy.stats.lognorm(s=STD, scale=np.exp(MEAN))


def posterior() -> LogNormalPosterior:
    log = MeanFieldPosterior(jnp.asarray(MEAN, jnp.float32), jnp.log(jnp.asarray(STD, jnp.float32)), LAYOUT)
    return LogNormalPosterior(log, LAYOUT)


def test_it_is_scipys(key: jax.Array):
    q = posterior()
    np.testing.assert_allclose(q.mean, REFERENCE.mean(), rtol=1e-5)
    np.testing.assert_allclose(q.variance, REFERENCE.var(), rtol=1e-5)
    np.testing.assert_allclose(q.entropy(), REFERENCE.entropy().sum(), rtol=1e-5)
    draw = q.sample(key)
    assert jnp.all(draw > 0)
    np.testing.assert_allclose(q.log_prob(draw), REFERENCE.logpdf(np.asarray(draw)).sum(), rtol=1e-4, atol=1e-4)
    assert q.num_params == 6


def test_many_draws_have_its_moments(key: jax.Array):
    count = 4_000
    draws = np.asarray(posterior().samples(key, count))
    np.testing.assert_array_less(np.abs(draws.mean(0) - REFERENCE.mean()), 6 * REFERENCE.std() / count**0.5)
    assert abs(np.corrcoef(draws.T)[0, 1]) < 6 / count**0.5
