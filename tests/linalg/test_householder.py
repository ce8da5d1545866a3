"""U = P diag(exp(2 l)) P^T, P a product of reflections."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.linalg.householder import HouseholderFactor


def rotation(factor: HouseholderFactor) -> jax.Array:
    """P: the factor without its scales."""
    return HouseholderFactor(jnp.zeros_like(factor.log_scale), factor.reflections).matrix()


def test_the_reflections_are_orthogonal_and_in_the_order_of_the_formula(key: jax.Array):
    with jax.enable_x64(True):
        vectors = jax.random.normal(key, (3, 5))
        turned = rotation(HouseholderFactor(jnp.zeros(5), vectors))
        np.testing.assert_allclose(turned @ turned.T, np.eye(5), atol=1e-12)
        product = np.eye(5)
        for vector in np.asarray(vectors):
            product = product @ (np.eye(5) - 2 * np.outer(vector, vector) / (vector @ vector))
        np.testing.assert_allclose(turned, product, atol=1e-12)


def test_the_start_has_directions_that_differ():
    # Equal scales hide P at the start; equal vectors would cancel and, moving alike, go on cancelling.
    start = HouseholderFactor.isotropic(6, 1.0, jnp.float32, reflections=3)
    units = start.reflections / jnp.linalg.norm(start.reflections, axis=1, keepdims=True)
    overlaps = jnp.abs(units @ units.T - jnp.eye(3))
    assert jnp.max(overlaps) < 0.9


@pytest.mark.parametrize("length", [0.0, 1e-25, 1.0, 1e25])
def test_only_the_direction_of_a_reflection_counts(length: float):
    # In single precision the squares of 1e25 overflow and those of 1e-25 vanish; no direction reflects nothing.
    vector = jnp.array([[0.6, 0.8, 0.0]])
    factor = HouseholderFactor(jnp.zeros(3), length * vector)
    expected = np.eye(3) - (2 * np.outer(vector[0], vector[0]) if length else 0)
    np.testing.assert_allclose(factor.matrix(), expected, atol=1e-6)
    gradient = jax.grad(lambda f: jnp.sum(jnp.sin(f.matrix())))(factor)
    assert jnp.all(jnp.isfinite(gradient.reflections))
