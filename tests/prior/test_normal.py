"""Normal priors: the density of scipy, and cross-entropies from two moments."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import plait
from plait.posterior import MeanFieldPosterior
from plait.site import Layout

LAYOUT = Layout.matrix((4, 3), [0])


def posterior(key: jax.Array) -> MeanFieldPosterior:
    mean, rho = jax.random.normal(key, (2, 4, 3))
    return MeanFieldPosterior(mean, rho, LAYOUT)


def expected_cross_entropy(q: MeanFieldPosterior, scale: np.ndarray | float, mean: np.ndarray | float) -> float:
    """E_q[-log p] of each entry is that of the mean, plus Var / (2 s^2)."""
    at_mean = -scipy.stats.norm(np.asarray(mean), np.asarray(scale)).logpdf(np.asarray(q.mean))
    return float(np.sum(at_mean + np.asarray(q.variance) / (2 * np.asarray(scale) ** 2)))


SCALES = {"number": 0.7, "column": jnp.array([0.5, 1.0, 2.0]), "entry": jnp.linspace(0.5, 2.0, 12).reshape(4, 3)}
MEANS = {"number": -0.3, "column": jnp.array([0.5, 0.0, -2.0]), "entry": jnp.linspace(-1.0, 1.0, 12).reshape(4, 3)}


@pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)
@pytest.mark.parametrize("mean", MEANS.values(), ids=MEANS)
def test_scale_and_mean_are_numbers_or_arrays_that_fit_the_weight(scale: object, mean: object, key: jax.Array):
    q = posterior(key)
    prior = plait.Normal(scale, mean).bind(q.mean, LAYOUT)
    density = scipy.stats.norm(np.asarray(mean), np.asarray(scale)).logpdf(np.asarray(q.mean)).sum()
    np.testing.assert_allclose(prior.log_prob(q.mean), density, rtol=1e-5)
    np.testing.assert_allclose(prior.cross_entropy(q), expected_cross_entropy(q, scale, mean), rtol=1e-5)
    assert prior.route(q) == "exact"


def test_numpy_arrays_and_numbers_will_do(key: jax.Array):
    q = posterior(key)
    given = plait.Normal(np.float64(0.5), np.asarray(MEANS["entry"])).bind(q.mean, LAYOUT)
    same = plait.Normal(0.5, MEANS["entry"]).bind(q.mean, LAYOUT)
    assert given.cross_entropy(q) == same.cross_entropy(q)
    assert given.describe() == "Normal(0.5, mean=given)"


@pytest.mark.parametrize("wrong", [jnp.ones(4), jnp.ones((4, 1, 3)), jnp.ones((5, 3))])
@pytest.mark.parametrize("name", ["mean", "scale"])
def test_an_array_that_does_not_fit_the_weight_is_refused(name: str, wrong: jax.Array):
    with pytest.raises(ValueError, match=rf"a prior {name} of shape .* does not fit a weight of shape \(4, 3\)"):
        plait.Normal(**{name: wrong}).bind(jnp.zeros((4, 3)), LAYOUT)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("inf"), jnp.array([0.1, 0.0]), jnp.array([jnp.nan])])
def test_a_scale_that_is_no_standard_deviation_is_refused(scale: object):
    with pytest.raises(ValueError, match="`scale` is a standard deviation and must be positive"):
        plait.Normal(scale)


def test_an_array_does_not_fit_the_factors_of_a_rank_one_posterior(key: jax.Array):
    # The prior is on the factors, which the weight's shape says nothing about.
    options = {"apply": lambda w, x: x @ w, "posterior": plait.RankOne(2), "key": key}
    for prior in (plait.Normal(0.1, mean="weights"), plait.Normal(jnp.ones((4, 3)), mean=1.0)):
        with pytest.raises(ValueError, match="does not fit the factors of shape"):
            plait.bayesianize(jnp.ones((4, 3)), jnp.ones((2, 4)), prior=prior, **options)


def test_a_prior_can_be_centred_on_the_given_weights(key: jax.Array):
    q = posterior(key)
    prior = plait.Normal(0.5, mean="weights").bind(q.mean, LAYOUT)
    np.testing.assert_allclose(prior.cross_entropy(q), expected_cross_entropy(q, 0.5, q.mean), rtol=1e-5)


def test_given_scales_and_means_are_not_trained(key: jax.Array):
    q = posterior(key)
    prior = plait.Normal(SCALES["entry"], MEANS["entry"])
    gradient = jax.grad(lambda p: p.cross_entropy(q) + p.log_prob(q.mean))(prior)
    assert all(bool(jnp.all(leaf == 0)) for leaf in jax.tree.leaves(gradient))


def test_the_he_prior_has_variance_two_over_the_fan_in():
    weight = plait.HeNormal().bind(jnp.zeros((4, 3)), LAYOUT)
    assert isinstance(weight, plait.Normal)
    np.testing.assert_allclose(weight.scale**2, 2 / 4)
    bias = plait.HeNormal().bind(jnp.zeros(3), Layout.vector((3,)))
    assert isinstance(bias, plait.Normal)
    assert bias.scale == 1


def test_a_learned_scale_is_best_at_the_root_mean_square_of_the_weights(key: jax.Array):
    # d/ds = 0 of n log s + sum E[W^2] / (2 s^2) at s^2 = mean E[W^2].
    q = posterior(key)
    best = float(jnp.sqrt(jnp.mean(q.mean**2 + q.variance)))
    prior = plait.LearnedNormal(best).bind(q.mean, LAYOUT)
    assert prior.num_params == 1
    slope = jax.grad(lambda p: p.cross_entropy(q))(prior).log_scale_parameter
    np.testing.assert_allclose(slope, 0, atol=1e-4)
    np.testing.assert_allclose(prior.cross_entropy(q), expected_cross_entropy(q, best, 0.0), rtol=1e-5)
