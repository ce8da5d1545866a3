"""ARD: the KL is the minimum over the variances of the prior, in the closed forms of MATH 4.2."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.posterior import MatrixNormalPosterior, MeanFieldPosterior
from plait.site import Layout

LAYOUT = Layout.matrix((4, 3), [0])


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64(True):
        yield


def mean_field(key: jax.Array) -> MeanFieldPosterior:
    mean, rho = jax.random.normal(key, (2, 4, 3))
    return MeanFieldPosterior(mean, rho, LAYOUT)


def matrix_normal(key: jax.Array) -> Any:
    moved = plait.MatrixNormal(init_scale=0.5).initialise(jax.random.normal(key, (4, 3)), LAYOUT, key=key)
    return jax.tree.map(lambda leaf: leaf + 0.3 * jax.random.normal(key, leaf.shape), moved)


@pytest.mark.parametrize("build", [mean_field, matrix_normal])
def test_the_kl_is_the_least_over_all_variances_of_the_prior(build: Any, key: jax.Array):
    q, prior = build(key), plait.ARD()
    best = prior.fitted(q)
    kl = prior.kl(q, key=None)
    np.testing.assert_allclose(kl, best.kl(q, key=None), rtol=1e-12)
    slope = jax.grad(lambda log_scale: _kl(q, log_scale))(jnp.log(best.scale))
    np.testing.assert_allclose(slope, 0, atol=1e-10)
    for other in jax.random.split(key, 20):
        moved = jnp.log(best.scale) + 0.1 * jax.random.normal(other, (4, 3))
        assert _kl(q, moved) > kl


def _kl(q: Any, log_scale: jax.Array) -> jax.Array:
    """The KL to N(0, diag(s^2)), without anything collapsed."""
    second = (jnp.square(q.mean) + q.variance) * jnp.exp(-2 * log_scale)
    return 0.5 * jnp.sum(second) + jnp.sum(log_scale) + 6 * jnp.log(2 * jnp.pi) - q.entropy()


def test_for_independent_entries_it_is_the_papers_formula(key: jax.Array):
    q = mean_field(key)
    expected = 0.5 * jnp.sum(jnp.log1p(jnp.square(q.mean / q.std)))
    np.testing.assert_allclose(plait.ARD().kl(q, key=None), expected, rtol=1e-12)


def test_for_a_matrix_normal_it_needs_only_the_diagonals_of_its_factors(key: jax.Array):
    q = matrix_normal(key)
    assert isinstance(q, MatrixNormalPosterior)
    rows, columns = q.rows.covariance(), q.columns.covariance()
    second = jnp.square(q.mean) + jnp.outer(jnp.diag(rows), jnp.diag(columns))
    determinants = 4 * jnp.linalg.slogdet(columns)[1] + 3 * jnp.linalg.slogdet(rows)[1]
    expected = 0.5 * (jnp.sum(jnp.log(second)) - determinants)
    np.testing.assert_allclose(plait.ARD().kl(q, key=None), expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_the_scale_of_every_single_weight_does_not_matter(scale: float, key: jax.Array):
    q = mean_field(key)
    factors = jnp.exp(jax.random.normal(key, (4, 3))) * scale
    scaled = MeanFieldPosterior(q.mean * factors, q.unconstrained + jnp.log(factors), LAYOUT)
    np.testing.assert_allclose(plait.ARD().kl(scaled, key=None), plait.ARD().kl(q, key=None), rtol=1e-10)


def test_a_weight_without_signal_costs_nothing():
    with jax.enable_x64(False):
        q = MeanFieldPosterior(jnp.zeros((4, 3)), jnp.full((4, 3), -3.0), LAYOUT)
        np.testing.assert_allclose(plait.ARD().kl(q, key=None), 0, atol=1e-4)


def test_second_moments_that_underflow_leave_finite_values_and_gradients():
    with jax.enable_x64(False):
        q = MeanFieldPosterior(jnp.full((4, 3), 1e-30), jnp.full((4, 3), -60.0), LAYOUT)
        value, gradient = jax.value_and_grad(lambda q: plait.ARD().kl(q, key=None))(q)
        assert jnp.isfinite(value)
        assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(gradient))


def test_a_gamma_hyperprior_has_its_most_probable_precision(key: jax.Array):
    q, prior = mean_field(key), plait.ARD(shape=1.7, rate=0.3)

    def objective(log_precision: jax.Array) -> jax.Array:
        log_gamma = 0.7 * log_precision - 0.3 * jnp.exp(log_precision)
        return _kl(q, -0.5 * log_precision) - jnp.sum(log_gamma)

    best = prior.log_precision(q)
    np.testing.assert_allclose(jax.grad(objective)(best), 0, atol=1e-10)
    np.testing.assert_allclose(prior.kl(q, key=None), objective(best), rtol=1e-12)


def test_a_vague_hyperprior_is_none_and_a_sharp_one_is_a_normal(key: jax.Array):
    first, second = (mean_field(k) for k in jax.random.split(key))
    vague = plait.ARD(shape=1 + 1e-9, rate=1e-9)
    np.testing.assert_allclose(vague.kl(first, key=None), plait.ARD().kl(first, key=None), rtol=1e-6)
    sharp, normal = plait.ARD(shape=1e8, rate=1e8 * 0.7**2), plait.Normal(0.7)
    # Up to the hyperprior's normaliser, which no posterior moves.
    gap = sharp.kl(first, key=None) - sharp.kl(second, key=None)
    np.testing.assert_allclose(gap, normal.kl(first, key=None) - normal.kl(second, key=None), rtol=1e-4)


def test_it_is_named_in_the_table():
    assert plait.ARD().describe() == "ARD"
    assert plait.ARD(shape=2.0, rate=0.5).describe() == "ARD(shape=2, rate=0.5)"


def test_what_makes_no_sense_is_refused(key: jax.Array):
    with pytest.raises(ValueError, match="`shape` must be larger than 1/2"):
        plait.ARD(shape=0.5)
    with pytest.raises(ValueError, match=r"`rate` must be at least 0, got -1\.0"):
        plait.ARD(rate=-1.0)
    with pytest.raises(ValueError, match=r"no density before its 12 variances are fitted.*prior\.fitted"):
        plait.ARD().log_prob(jnp.zeros((4, 3)))
    heavy = plait.RankOne(1, family="cauchy")
    with pytest.raises(ValueError, match="is infinite: a posterior without moments"):
        plait.bayesianize(jnp.ones((4, 3)), jnp.ones((2, 4)), apply=lambda w, x: x @ w, posterior=heavy,
                          prior=plait.ARD(), key=key)  # fmt: skip


def test_it_serves_weights_and_biases_of_any_family(key: jax.Array):
    weights = {"w": jnp.ones((4, 3)), "b": jnp.zeros(3)}
    for family in (plait.Tied(2), plait.MatrixNormalPlusDiagonal(), plait.LowRank(), plait.FullCovariance(joint=True)):
        bnn = plait.bayesianize(
            weights, jnp.ones((2, 4)), apply=lambda p, x: x @ p["w"] + p["b"][None], posterior=family,
            prior=plait.ARD(), key=key,
        )  # fmt: skip
        assert {row.prior for row in bnn.sites} == {"ARD"}
        assert jnp.isfinite(bnn.kl())
