"""Noise of unknown precision against scipy, quadrature and its own best posterior."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

import plait
from plait.likelihood import Bernoulli, Categorical, GammaGaussian, Gaussian, Poisson
from plait.objective import elbo


def with_posterior(shape: float, rate: float) -> GammaGaussian:
    own = GammaGaussian(6.0, 6.0)
    logs = (jnp.log(jnp.asarray(shape)), jnp.log(jnp.asarray(rate)))
    return eqx.tree_at(lambda g: (g.log_shape, g.log_rate), own, logs)


@pytest.mark.parametrize(("shape", "rate"), [(6.0, 6.0), (4000.0, 900.0)])
def test_the_predictive_density_averages_over_the_precision(shape: float, rate: float, seed: int):
    rng = np.random.default_rng(seed)
    outputs, y = rng.normal(size=(3, 5, 2)).astype(np.float32), rng.normal(size=(5, 2)).astype(np.float32)
    found = with_posterior(shape, rate).log_prob(outputs, y)
    joint = stats.multivariate_t(df=2 * shape, shape=rate / shape * np.eye(2))
    np.testing.assert_allclose(found, joint.logpdf(y - outputs), rtol=1e-4, atol=1e-4)
    single = with_posterior(shape, rate).log_prob(outputs[..., :1], y[:, :1])
    expected = stats.t.logpdf(y[:, :1], 2 * shape, outputs[..., :1], np.sqrt(rate / shape))[..., 0]
    np.testing.assert_allclose(single, expected, rtol=1e-4, atol=1e-4)
    # It is what draws of the precision average to.
    draws = rng.gamma(shape, 1 / rate, size=40_000)[:, None]
    densities = stats.norm.pdf(y[:, 0], outputs[0, :, 0], 1 / np.sqrt(draws))
    np.testing.assert_allclose(np.exp(expected[0]), densities.mean(0), rtol=0.03)


def test_the_bound_and_the_divergence_are_integrals(seed: int):
    rng = np.random.default_rng(seed)
    outputs, y = rng.normal(size=(4, 1)).astype(np.float32), rng.normal(size=(4, 1)).astype(np.float32)
    own = with_posterior(9.0, 4.0)
    q, p = stats.gamma(9.0, scale=1 / 4.0), stats.gamma(6.0, scale=1 / 6.0)
    for n, found in enumerate(np.asarray(own.expected_log_prob(outputs, y))):
        inside = lambda t, n=n: q.pdf(t) * stats.norm.logpdf(y[n, 0], outputs[n, 0], t**-0.5)  # noqa: E731
        np.testing.assert_allclose(found, integrate.quad(inside, 1e-6, 12)[0], rtol=1e-4)
    divergence = integrate.quad(lambda t: q.pdf(t) * (q.logpdf(t) - p.logpdf(t)), 1e-6, 12)[0]
    np.testing.assert_allclose(own.kl(), divergence, rtol=1e-4)
    assert abs(float(GammaGaussian().kl())) < 1e-5
    assert (own.expected_log_prob(outputs, y) < own.log_prob(outputs, y)).all()


def test_the_closed_form_update_is_the_optimum_of_gradient_training(seed: int):
    rng = np.random.default_rng(seed)
    outputs = 0.1 * rng.normal(size=(3, 20, 1)).astype(np.float32)
    y = 0.1 * rng.normal(size=(20, 1)).astype(np.float32)
    best = GammaGaussian().updated(outputs, y, dataset_size=100)
    squares = np.mean((y - outputs) ** 2)
    np.testing.assert_allclose([best.shape, best.rate], [56.0, 6 + 50 * squares], rtol=1e-5)

    def loss(own: GammaGaussian, weight: float) -> jax.Array:
        return -jnp.mean(own.expected_log_prob(outputs, y)) + weight * own.kl() / 100

    for weight in (1.0, 0.25):
        own = GammaGaussian().updated(outputs, y, dataset_size=100, kl_weight=weight)
        slope = eqx.filter_grad(loss)(own, weight)
        np.testing.assert_allclose([slope.log_shape, slope.log_rate], 0, atol=2e-4)
    half = GammaGaussian().updated(outputs, y, dataset_size=100, rate=0.5)
    np.testing.assert_allclose(half.shape, 31.0, rtol=1e-5)


def test_draws_and_moments_agree(key: jax.Array):
    own = with_posterior(8.0, 2.0)
    outputs = jnp.asarray([[0.5], [-1.0]])
    draws = np.asarray(jax.jit(jax.vmap(lambda k: own.sample(k, outputs)))(jax.random.split(key, 40_000)))
    np.testing.assert_allclose(draws.mean(0), own.mean(outputs), atol=0.02)
    np.testing.assert_allclose(draws.var(0), own.variance(outputs), rtol=0.06)
    assert np.isinf(with_posterior(0.9, 1.0).variance(outputs)).all()
    assert own.num_params == 2
    assert own.num_outputs(3) == 3


def test_the_bound_of_a_model_counts_the_noise(key: jax.Array):
    x, y = jax.random.normal(key, (8, 2)), jnp.ones((8, 1))
    bnn = plait.bayesianize({"w": jnp.ones((2, 1))}, x, apply=lambda w, x: x @ w["w"], key=key)
    own = with_posterior(9.0, 4.0)
    loss, aux = elbo(bnn, (x, y), key=key, likelihood=own, dataset_size=8)
    np.testing.assert_allclose(aux.kl, bnn.kl() + own.kl(), rtol=1e-5)
    np.testing.assert_allclose(loss, aux.nll + aux.kl / 8, rtol=1e-6)
    found = plait.evaluate(bnn, (x, y), key=key, likelihood=own, num_samples=5, dataset_size=8)
    assert found.negative_elbo is not None
    assert found.gibbs_nll.value > found.nll.value
    np.testing.assert_allclose(
        found.negative_elbo.value, found.gibbs_nll.value + float(bnn.kl() + own.kl()) / 8, rtol=1e-5
    )


def test_targets_of_another_shape_or_kind_are_refused():
    with pytest.raises(ValueError, match="give the targets a last axis"):
        GammaGaussian().check((4, 1), (4,), jnp.float32)
    with pytest.raises(ValueError, match="real numbers as y, got dtype complex64"):
        GammaGaussian().check((4, 1), (4, 1), jnp.complex64)
    with pytest.raises(ValueError, match=r"GammaGaussian: `rate` of the prior must be a positive number, got 0\.0"):
        GammaGaussian(6.0, 0.0)
    with pytest.raises(ValueError, match="needs outputs and y of the same shape"):
        GammaGaussian().log_prob(jnp.ones((4, 2)), jnp.ones((4, 1)))


ROOTS: dict[str, Any] = {
    "categorical": Categorical(),
    "bernoulli": Bernoulli(),
    "poisson": Poisson(),
    "gaussian": Gaussian(0.3),
    "gaussian-each": Gaussian("learned", initial=0.5, shape=(3,)),
}


@pytest.mark.parametrize("name", ROOTS)
def test_the_root_of_the_fisher_matrix_squares_to_the_curvature(name: str, key: jax.Array):
    likelihood = ROOTS[name]
    outputs = jax.random.normal(key, (4, 3))
    root = likelihood.fisher_root(outputs)
    y = jnp.asarray([0, 2, 1, 1]) if name == "categorical" else jnp.ones((4, 3))

    def one(outputs: jax.Array, y: jax.Array) -> jax.Array:
        return -likelihood.log_prob(outputs[None], y[None])[0]

    # Of canonical parameters the Hessian does not depend on the target.
    hessian = jax.vmap(jax.hessian(one))(outputs, y)
    np.testing.assert_allclose(jnp.einsum("cni,cnj->nij", root, root), hessian, rtol=1e-4, atol=1e-5)


def test_the_root_with_unknown_precision_is_that_of_its_mean():
    root = with_posterior(8.0, 2.0).fisher_root(jnp.zeros((2, 1)))
    np.testing.assert_allclose(root, 2.0, rtol=1e-6)


@pytest.mark.parametrize("likelihood", [Categorical(), Bernoulli(), Poisson(), Gaussian(1.0), Gaussian("predicted")])
def test_likelihoods_without_a_root_say_what_to_do(likelihood: Any):
    shape = (4, 2) if likelihood == Gaussian("predicted") else (4, 3, 2)
    with pytest.raises(ValueError, match=r"no exact Fisher matrix of outputs of shape \(4, .*fisher='sampled'"):
        likelihood.fisher_root(jnp.zeros(shape))


def test_a_learned_scale_moves_to_the_residuals(seed: int):
    residuals = np.random.default_rng(seed).normal(size=(2, 50, 2)).astype(np.float32) * np.float32(0.4)
    y = np.zeros((50, 2), np.float32)
    for shape in ((), (2,)):
        own = Gaussian("learned", shape=shape, min_scale=1e-3).updated(residuals, y, dataset_size=50)
        axis = (0, 1) if shape else None
        np.testing.assert_allclose(own.scale(y)[0], np.broadcast_to(np.sqrt(np.mean(residuals**2, axis)), 2), rtol=1e-4)
    assert Gaussian(0.3).updated(residuals, y, dataset_size=50) == Gaussian(0.3)
    assert Categorical().updated(residuals, y, dataset_size=50) == Categorical()
