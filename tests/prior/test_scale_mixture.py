"""The mixture of a wide and a narrow normal: the density of scipy, without a closed form of the KL."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.stats

import plait
from plait.posterior import MeanFieldPosterior
from plait.site import Layout


def test_the_density_is_scipys(key: jax.Array):
    weight = np.asarray(jax.random.normal(key, (5,)))
    wide, narrow = (scipy.stats.norm(scale=s).pdf(weight) for s in (1.0, 0.1))
    expected = np.log(0.3 * wide + 0.7 * narrow).sum()
    np.testing.assert_allclose(
        plait.ScaleMixture(1.0, 0.1, 0.3).log_prob(jnp.asarray(weight)), expected, rtol=1e-5, atol=1e-5
    )


def test_a_narrow_component_that_underflows_leaves_the_wide_one():
    prior = plait.ScaleMixture(1.0, 1e-6, 0.5)
    value, slope = jax.value_and_grad(prior.log_prob)(jnp.array([2.0]))
    np.testing.assert_allclose(value, np.log(0.5) + scipy.stats.norm.logpdf(2.0), rtol=1e-5)
    np.testing.assert_allclose(slope, -2.0, rtol=1e-5)


def test_its_kl_is_drawn():
    field = MeanFieldPosterior(jnp.zeros(3), jnp.zeros(3), Layout.vector((3,)))
    assert plait.ScaleMixture().route(field) == "Monte Carlo"
