"""The two posteriors of a Kronecker product against dense inverses, and the factors themselves."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.natural.curvature import Look
from plait.natural.kronecker import (
    DampedKronecker,
    ExactKronecker,
    Factors,
    damped,
    inverse_root,
    row_precision,
    seen_factors,
)
from plait.natural.layers import find_layers
from plait.natural.prior import GaussianPrior, gaussian_priors
from plait.posterior import LayerMatrix
from plait.site import Layout

LAYER = LayerMatrix("w", Layout.matrix((3, 2), [0]), "b", Layout.vector((2,)))


def spd(key: jax.Array, size: int) -> jax.Array:
    root = jax.random.normal(key, (size, size), float)
    return root @ root.T + 0.1 * jnp.eye(size)


def problem(kind: Any, key: jax.Array) -> tuple[Any, Any, jax.Array, jax.Array]:
    """A posterior after a refresh, its state, and A and S; kernel and bias have priors of different widths."""
    first, second, third = jax.random.split(key, 3)
    factors = Factors(spd(first, 4), 50 * spd(second, 2))
    weights = {"w": jax.random.normal(third, (3, 2), float), "b": jnp.zeros((2,), float)}
    bnn = plait.bayesianize(
        weights,
        jnp.zeros((2, 3), float),
        apply=lambda w, x: x @ w["w"] + w["b"][None],
        posterior=plait.MeanField(0.1),
        prior={"w": plait.Normal(0.7), "b": plait.Normal(1.5)},
        key=key,
    )
    curvature = kind(LAYER.paths, LAYER)
    priors = gaussian_priors(bnn)
    value = curvature.make(bnn)
    state = curvature.start(value, priors)
    state = state._replace(factors=factors) if hasattr(state, "factors") else factors
    value, state = curvature.refresh(value, state, priors, jnp.asarray(0.0))
    return curvature, (value, state), factors.inputs, factors.outputs


PRECISION = np.diag(np.repeat([0.7**-2] * 3 + [1.5**-2], 2))


def test_the_exact_sampler_has_the_inverse_of_the_product_plus_the_prior(key: jax.Array):
    with jax.enable_x64(True):
        _, (value, _), inputs, outputs = problem(ExactKronecker, key)
        dense = np.linalg.inv(np.kron(inputs, outputs) + PRECISION)
        np.testing.assert_allclose(value.covariance(), dense, rtol=1e-10, atol=1e-10)


def test_the_damped_sampler_has_the_inverse_of_the_damped_product(key: jax.Array):
    with jax.enable_x64(True):
        _, (value, _), inputs, outputs = problem(DampedKronecker, key)
        a, s = np.asarray(inputs), np.asarray(outputs)
        precision = np.array([0.7**-2] * 3 + [1.5**-2])
        pi = np.sqrt((np.trace(a) / 4) / (np.trace(s) / 2))
        root = np.sqrt(precision.mean())
        product = np.kron(a + pi * np.diag(precision) / root, s + root / pi * np.eye(2))
        np.testing.assert_allclose(value.covariance(), np.linalg.inv(product), rtol=1e-10, atol=1e-10)
        # Damping over-regularises: it only adds to the precision (MATH 3.1).
        assert np.linalg.eigvalsh(product - np.kron(a, s) - PRECISION).min() > 0


@pytest.mark.parametrize("kind", [DampedKronecker, ExactKronecker])
def test_draws_are_those_of_the_stated_covariance_and_steps_multiply_by_it(kind: Any, key: jax.Array):
    with jax.enable_x64(True):
        curvature, (value, state), _, _ = problem(kind, key)
        gradients = {"w": jax.random.normal(key, (3, 2), float), "b": jnp.ones((2,), float)}
        flat = LAYER.join(gradients).reshape(-1)
        ridge = jnp.asarray(0.0)
        direction = curvature.direction(value, state, gradients, 3.0, ridge)
        expected = 3.0 * (value.covariance() @ flat)
        np.testing.assert_allclose(LAYER.join(direction).reshape(-1), expected, rtol=1e-9)
        draws = jax.jit(jax.vmap(lambda k: LAYER.join(value.sample(k)).reshape(-1)))(jax.random.split(key, 20_000))
        centred = np.asarray(draws - LAYER.join(value.means).reshape(1, -1))
        covariance = centred.T @ centred / len(centred)
        error = np.sqrt(((centred**2).T @ centred**2 / len(centred) - covariance**2).clip(0) / len(centred))
        np.testing.assert_array_less(np.abs(covariance - value.covariance()), 6 * error + 1e-9)


@pytest.mark.parametrize("kind", [DampedKronecker, ExactKronecker])
def test_a_ridge_shortens_steps_and_leaves_the_covariance(kind: Any, key: jax.Array):
    curvature, (value, state), _, _ = problem(kind, key)
    priors = {path: GaussianPrior(jnp.asarray(1.0), jnp.asarray(0.0)) for path in LAYER.paths}
    gradients = {"w": jnp.ones((3, 2)), "b": jnp.ones((2,))}
    lengths, widths = [], []
    for ridge in (0.0, 1.0, 1e6):
        new, kept = curvature.refresh(value, state, priors, jnp.asarray(ridge))
        found = curvature.direction(new, kept, gradients, jnp.asarray(1.0), jnp.asarray(ridge))
        lengths.append(float(jnp.sum(LAYER.join(found) * LAYER.join(gradients))))
        widths.append(float(new.matrix.total_variance()))
    assert lengths[0] > lengths[1] > 10 * lengths[2] > 0
    assert widths[0] == widths[1] == widths[2]


def test_a_start_leaves_the_layer_as_wide_as_it_was(key: jax.Array):
    bnn = plait.bayesianize(
        {"w": jnp.ones((3, 2)), "b": jnp.ones((2,))},
        jnp.zeros((2, 3)),
        apply=lambda w, x: x @ w["w"] + w["b"][None],
        posterior=plait.MeanField(0.05, init_spread=0.0),
        prior=plait.Normal(1.0),
        key=key,
    )
    priors = gaussian_priors(bnn)
    for kind in (DampedKronecker, ExactKronecker):
        curvature = kind(LAYER.paths, LAYER)
        value = curvature.make(bnn)
        np.testing.assert_allclose(value.matrix.variance, 0.05**2, rtol=1e-5)
        value, _ = curvature.refresh(value, curvature.start(value, priors), priors, jnp.asarray(0.0))
        np.testing.assert_allclose(value.matrix.variance, 0.05**2, rtol=0.15)


def test_the_root_of_an_inverse_is_lower_triangular(key: jax.Array):
    with jax.enable_x64(True):
        matrix = spd(key, 5)
        root = inverse_root(matrix)
        np.testing.assert_allclose(root @ root.T @ matrix, np.eye(5), atol=1e-9)
        assert jnp.array_equal(root, jnp.tril(root))
        assert jnp.all(jnp.diagonal(root) > 0)


def test_no_factor_loses_definiteness_in_ten_thousand_steps(key: jax.Array):
    """In single precision, with batches of one example, zeros, and sizes over sixteen orders of magnitude."""
    priors = {path: GaussianPrior(jnp.asarray(1.0), jnp.asarray(0.0)) for path in LAYER.paths}
    precision = row_precision(LAYER, priors)

    def step(factors: Factors, key: jax.Array) -> tuple[Factors, Any]:
        keys = jax.random.split(key, 4)
        sizes = 10.0 ** jax.random.uniform(keys[0], (2,), minval=-8, maxval=8)
        sizes = jnp.where(jax.random.bernoulli(keys[1], 0.7, (2,)), sizes, 0)
        seen = [jax.random.normal(k, (n,)) for k, n in zip(keys[2:], (4, 2), strict=True)]
        outer = [size * jnp.outer(v, v) for size, v in zip(sizes, seen, strict=True)]
        moved = Factors(*(0.9 * old + 0.1 * new for old, new in zip(factors, outer, strict=True)))
        fine = [jnp.all(jnp.isfinite(inverse_root(matrix))) for matrix in damped(moved, precision)]
        return moved, jnp.stack(fine)

    start = Factors(jnp.eye(4), jnp.eye(2))
    fine = jax.jit(lambda keys: jax.lax.scan(step, start, keys)[1])(jax.random.split(key, 10_000))
    assert jnp.all(fine)


def test_replacing_the_matrix_keeps_the_layer(key: jax.Array):
    curvature, (value, _), _, _ = problem(DampedKronecker, key)
    moved = curvature.move(value, {"w": jnp.ones((3, 2)), "b": jnp.ones((2,))})
    np.testing.assert_allclose(LAYER.join(moved.means), LAYER.join(value.means) + 1, rtol=1e-6)
    assert replace(moved, matrix=value.matrix).layer == LAYER


def test_the_factors_of_a_convolution_count_its_places(key: jax.Array):
    """Their moments are those of kfac-jax (tests/model/test_record.py); the Fisher matrix has T of them."""
    numbers = ("NHC", "HIO", "NHC")
    x = jax.random.normal(key, (4, 5, 2))
    bnn = plait.bayesianize(
        {"w": jax.random.normal(key, (2, 2, 3)), "b": jnp.zeros((3,))},
        x,
        apply=lambda w, x: (
            jax.lax.conv_general_dilated(x, w["w"], (1,), "VALID", dimension_numbers=numbers) + w["b"][None, None]
        ),
        prior=plait.Normal(1.0),
        key=key,
    )
    (layer,), _ = find_layers(bnn, kinds=("conv",))
    recording = plait.record(bnn, x, likelihood=plait.Gaussian(1.0), key=key)
    found = seen_factors(Look(recording, 4, dict), layer)
    seen = recording.sites["w"]
    np.testing.assert_allclose(found.inputs, seen.input_second_moment(bias=True)[0], rtol=1e-6)
    np.testing.assert_allclose(found.outputs, 4 * seen.gradient_second_moment()[0], rtol=1e-6)
