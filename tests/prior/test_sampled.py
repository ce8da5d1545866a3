"""The KL by one draw of log q - log p: the mean is the closed form, and a key is needed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.posterior import CauchyPosterior
from plait.prior import HierarchicalNormal, LearnedNormal
from plait.site import Layout

LAYOUT = Layout.vector((3,))
Q = CauchyPosterior(jnp.array([0.9, 1.2, 1.0]), jnp.array([-2.0, -1.0, -3.0]), LAYOUT)
EXACT = plait.Cauchy(0.1, location=1.0)


def test_its_mean_is_the_closed_form(key: jax.Array):
    draws = np.asarray(jax.vmap(lambda k: plait.Sampled(EXACT).kl(Q, key=k))(jax.random.split(key, 4_000)))
    assert abs(draws.mean() - float(EXACT.kl(Q, key=None))) < 6 * draws.std() / len(draws) ** 0.5
    assert plait.Sampled(EXACT).route(Q) == "Monte Carlo"


def test_it_is_the_prior_it_wraps(key: jax.Array):
    prior = plait.Sampled(plait.Normal(0.5))
    assert prior.log_prob(Q.location) == plait.Normal(0.5).log_prob(Q.location)
    assert prior.describe() == "Sampled(Normal(0.5))"
    assert prior.num_params == 0
    learned = plait.Sampled(LearnedNormal()).bind(Q.location, LAYOUT)
    assert learned.num_params == 1
    assert plait.Sampled(plait.GroupARD()).for_vectors().prior.describe() == "HeNormal"
    assert prior.restricted((np.arange(2),)).describe() == prior.describe()
    with pytest.raises(ValueError, match="infinite"):
        prior.check(Q)
    with pytest.raises(ValueError, match="draws its KL by Monte Carlo and needs a key"):
        prior.kl(Q, key=None)


def test_a_prior_that_is_fitted_first_has_nothing_to_draw():
    with pytest.raises(ValueError, match="HierarchicalNormal has no density to draw from"):
        plait.Sampled(HierarchicalNormal())
