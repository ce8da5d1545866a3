"""Elementary functions whose value and gradient stay finite where the plain ones do not."""

import jax.numpy as jnp

from plait._typing import Array


def safe_sqrt(square: Array) -> Array:
    """sqrt(a) whose gradient at a = 0 is 0 instead of infinite.

    A zero row of inputs gives a zero variance; the plain root then puts `0 * inf = nan` into the gradient.
    """
    positive = square > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, square, 1)), 0)


def scale_last(vectors: Array, scales: Array) -> Array:
    """[..., n] vectors times [n] scales, entry by entry."""
    return vectors * jnp.expand_dims(scales, tuple(range(vectors.ndim - 1)))


def inverse_softplus(value: Array) -> Array:
    """rho with log(1 + exp(rho)) = value, for value > 0, without overflow for large values."""
    return value + jnp.log(-jnp.expm1(-value))
