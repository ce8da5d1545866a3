"""The Cauchy prior: the density of scipy, closed form against Cauchy posteriors only."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.stats

import plait
from plait.posterior import CauchyPosterior, MeanFieldPosterior
from plait.site import Layout

LAYOUT = Layout.vector((3,))


def test_the_density_is_scipys(key: jax.Array):
    weight = 10 * jax.random.normal(key, (3,))
    expected = scipy.stats.cauchy(0.5, 0.2).logpdf(np.asarray(weight)).sum()
    np.testing.assert_allclose(plait.Cauchy(0.2, location=0.5).log_prob(weight), expected, rtol=1e-5, atol=1e-5)


def test_a_posterior_equal_to_the_prior_has_no_kl():
    prior = plait.Cauchy(0.2, location=0.5)
    rho = jnp.full(3, jnp.log(jnp.expm1(0.2)))
    equal = CauchyPosterior(jnp.full(3, 0.5), rho, LAYOUT)
    np.testing.assert_allclose(prior.kl(equal, key=None), 0, atol=1e-5)
    assert prior.kl(CauchyPosterior(jnp.full(3, 0.6), rho, LAYOUT), key=None) > 0
    assert prior.route(equal) == "exact"


def test_against_another_family_the_kl_is_drawn(key: jax.Array):
    prior, field = plait.Cauchy(0.2), MeanFieldPosterior(jnp.zeros(3), jnp.zeros(3), LAYOUT)
    assert prior.cross_entropy(field) is None
    assert prior.route(field) == "Monte Carlo"
    draw = field.sample(key)
    np.testing.assert_allclose(prior.kl(field, key=key), -prior.log_prob(draw) - field.entropy(), rtol=1e-5)
