"""The log-normal prior: the density of scipy, the KL of the logarithms, and only for what is positive."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import plait
from plait.posterior import LogNormalPosterior, MeanFieldPosterior
from plait.site import Layout

LAYOUT = Layout.vector((2,))
LOG = MeanFieldPosterior(jnp.array([0.3, -0.2]), jnp.array([-1.0, -2.0]), LAYOUT)


def test_the_density_is_scipys(key: jax.Array):
    weight = jnp.exp(jax.random.normal(key, (3,)))
    expected = scipy.stats.lognorm(s=0.4, scale=np.exp(0.5)).logpdf(np.asarray(weight)).sum()
    np.testing.assert_allclose(plait.LogNormal(0.4, location=0.5).log_prob(weight), expected, rtol=1e-4, atol=1e-4)


def test_the_kl_is_that_of_the_logarithms():
    prior, posterior = plait.LogNormal(0.4, location=0.5), LogNormalPosterior(LOG, LAYOUT)
    assert prior.route(posterior) == "exact"
    prior.check(posterior)
    expected = plait.Normal(0.4, mean=0.5).kl(LOG, key=None)
    np.testing.assert_allclose(prior.kl(posterior, key=None), expected, rtol=1e-5)


def test_entries_that_may_be_negative_are_refused():
    assert plait.LogNormal(0.4).cross_entropy(LOG) is None
    with pytest.raises(ValueError, match="LogNormal has no mass below 0"):
        plait.LogNormal(0.4).check(LOG)
    with pytest.raises(ValueError, match="`scale` is a standard deviation"):
        plait.LogNormal(-1.0)
