"""MATH 3.4: neighbouring layers correlated, against the dense matrices."""

from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.natural.kronecker import Factors, damped, row_precision
from plait.natural.noisy_block_tridiagonal import BlockTridiagonalCurvature, Chain
from plait.natural.prior import GaussianPrior, gaussian_priors
from plait.posterior import BlockTridiagonalPosterior

WIDTHS = (2, 3, 2, 1)


def chain(key: jax.Array) -> tuple[Any, Any, Any, list[Factors]]:
    """A curvature over three layers, the second without a bias, with averages of correlated vectors."""
    weights = {f"w{i}": jnp.ones((n, m), float) for i, (n, m) in enumerate(pairwise(WIDTHS))}
    weights |= {"b0": jnp.zeros((3,), float), "b2": jnp.zeros((1,), float)}

    def apply(w: Any, x: Any) -> Any:
        hidden = jnp.tanh(x @ w["w0"] + w["b0"][None])
        return jnp.tanh(hidden @ w["w1"]) @ w["w2"] + w["b2"][None]

    bnn = plait.bayesianize(
        weights, jnp.zeros((2, 2), float), apply=apply, posterior=plait.MeanField(0.1), prior=plait.Normal(2.0), key=key
    )
    (curvature,), reasons = plait.NoisyBlockTridiagonal().curvatures(bnn)
    assert isinstance(curvature, BlockTridiagonalCurvature)
    assert not reasons
    assert [layer.paths for layer in curvature.layers] == [("w0", "b0"), ("w1",), ("w2", "b2")]
    first, second = jax.random.split(key)
    sides = []
    for k, sizes in ((first, [layer.rows for layer in curvature.layers]), (second, list(WIDTHS[1:]))):
        vectors = jax.random.normal(k, (20, sum(sizes)), float)
        sides.append((np.asarray(vectors.T @ vectors / 20), np.cumsum([0, *sizes])))

    def block(side: int, i: int, j: int) -> jax.Array:
        moment, ends = sides[side]
        return (1 if side == 0 else 7) * jnp.asarray(moment[ends[i] : ends[i + 1], ends[j] : ends[j + 1]])

    own = [Factors(block(0, i, i), block(1, i, i)) for i in range(3)]
    pairs = [Factors(block(0, i, i + 1), block(1, i, i + 1)) for i in range(2)]
    priors = gaussian_priors(bnn)
    value, state = curvature.refresh(curvature.make(bnn), Chain(tuple(own), tuple(pairs)), priors, 0.0)
    damping = [damped(one, row_precision(layer, priors)) for one, layer in zip(own, curvature.layers, strict=True)]
    return curvature, value, state, damping


def cut(matrix: Any, curvature: BlockTridiagonalCurvature, i: int, j: int) -> Any:
    ends = np.cumsum([0] + [layer.rows * layer.columns for layer in curvature.layers])
    return np.asarray(matrix)[ends[i] : ends[i + 1], ends[j] : ends[j + 1]]


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def test_diagonal_and_first_off_diagonal_blocks_of_the_precision_match(key: jax.Array):
    curvature, value, state, damping = chain(key)
    precision = np.linalg.inv(value.covariance())
    for i, factors in enumerate(damping):
        np.testing.assert_allclose(cut(precision, curvature, i, i), np.kron(*factors), rtol=1e-8, atol=1e-8)
    for i, pair in enumerate(state.pairs):
        np.testing.assert_allclose(cut(precision, curvature, i, i + 1), np.kron(*pair), rtol=1e-8, atol=1e-8)


def test_the_covariance_is_block_tridiagonal(key: jax.Array):
    curvature, value, _, _ = chain(key)
    assert np.abs(cut(value.covariance(), curvature, 0, 2)).max() < 1e-12
    assert np.abs(cut(value.covariance(), curvature, 0, 1)).max() > 1e-4


def test_entropy_density_and_marginals_are_those_of_the_dense_gaussian(key: jax.Array):
    curvature, value, _, _ = chain(key)
    covariance = np.asarray(value.covariance())
    size = len(covariance)
    dense = 0.5 * np.linalg.slogdet(covariance)[1] + 0.5 * size * (np.log(2 * np.pi) + 1)
    np.testing.assert_allclose(value.entropy(), dense, rtol=1e-10)
    weights = value.sample(key)

    def flat(weights: Any) -> jax.Array:
        return jnp.concatenate([layer.join(weights).reshape(-1) for layer in curvature.layers])

    density = jax.scipy.stats.multivariate_normal.logpdf(flat(weights), flat(value.means), covariance)
    np.testing.assert_allclose(value.log_prob(weights), density, rtol=1e-9)
    marginals = value.marginals()
    variances = flat({path: marginal.variance for path, marginal in marginals.items()})
    np.testing.assert_allclose(variances, np.diagonal(covariance), rtol=1e-10)
    for marginal in marginals.values():
        np.testing.assert_allclose(marginal.total_variance(), jnp.sum(marginal.variance), rtol=1e-10)


def test_draws_and_steps_use_the_same_covariance(key: jax.Array):
    curvature, value, state, _ = chain(key)
    covariance = np.asarray(value.covariance())

    def flat(weights: Any) -> jax.Array:
        return jnp.concatenate([layer.join(weights).reshape(-1) for layer in curvature.layers])

    gradients = {path: jax.random.normal(key, mean.shape, float) for path, mean in value.means.items()}
    found = curvature.direction(value, state, gradients, 2.0, 0.0)
    np.testing.assert_allclose(flat(found), 2 * covariance @ flat(gradients), rtol=1e-9, atol=1e-12)
    draws = np.asarray(jax.jit(jax.vmap(lambda k: flat(value.sample(k))))(jax.random.split(key, 20_000)))
    centred = draws - np.asarray(flat(value.means))
    sampled = centred.T @ centred / len(centred)
    error = np.sqrt(((centred**2).T @ centred**2 / len(centred) - sampled**2).clip(0) / len(centred))
    np.testing.assert_array_less(np.abs(sampled - covariance), 6 * error + 1e-9)


def test_layers_without_correlation_are_those_of_kfac(key: jax.Array):
    curvature, value, state, damping = chain(key)
    apart = state._replace(pairs=tuple(Factors(*map(jnp.zeros_like, pair)) for pair in state.pairs))
    priors = {path: GaussianPrior(jnp.asarray(0.25), jnp.asarray(0.0)) for path in curvature.paths}
    value, _ = curvature.refresh(value, apart, priors, 0.0)
    for i, factors in enumerate(damping):
        block = cut(value.covariance(), curvature, i, i)
        np.testing.assert_allclose(block, np.linalg.inv(np.kron(*factors)), rtol=1e-8, atol=1e-10)


def test_num_params_counts_every_array_but_determinants(key: jax.Array):
    _, value, _, _ = chain(key)
    assert isinstance(value, BlockTridiagonalPosterior)
    leaves = jax.tree.leaves(eqx.filter(value, eqx.is_inexact_array))
    assert value.num_params == sum(leaf.size for leaf in leaves) - 3


def test_layers_that_are_applied_unequally_often_are_refused(key: jax.Array):
    def apply(w: Any, x: Any) -> Any:
        return jnp.mean(jnp.tanh(x @ w["a"]), axis=1) @ w["b"]

    x = jnp.zeros((2, 3, 2), float)
    weights = {"a": jnp.ones((2, 2), float), "b": jnp.ones((2, 1), float)}
    bnn = plait.bayesianize(weights, x, apply=apply, prior=plait.Normal(1.0), key=key)
    method = plait.NoisyBlockTridiagonal()
    with pytest.raises(ValueError, match=r"'a' is applied 6 times where 'b' is applied 2 times: use plait.NoisyKFAC"):
        method.step(
            bnn,
            method.init(bnn),
            (x, jnp.zeros((2, 1), float)),
            key=key,
            likelihood=plait.Gaussian(1.0),
            dataset_size=2,
        )
    bnn = plait.bayesianize(jnp.ones((2,)), x, apply=lambda w, x: x * w[None, None], prior=plait.Normal(1.0), key=key)
    with pytest.raises(ValueError, match=r"needs a dense layer, and the model has none"):
        method.prepare(bnn)
    with pytest.raises(ValueError, match=r"no `damping`, got 0.1"):
        plait.NoisyBlockTridiagonal(damping=0.1)
