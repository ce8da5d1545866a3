"""Pictures turned, shifted and partly inverted, as in MNIST-C. Picture, key, constant of a severity.

Each direction is drawn; what comes in from beyond the border is black.
"""

import jax
import jax.numpy as jnp

from plait._typing import Array, PRNGKey
from plait.data.corruption.resampling import grid, interpolate
from plait.data.corruption.severities import Traced


def _sign(key: PRNGKey, dtype: jnp.dtype) -> Array:
    return 2 * jax.random.bernoulli(key).astype(dtype) - 1


def _seen_through(image: Array, matrix: tuple[tuple[Array | Traced, Array | Traced], ...]) -> Array:
    """The picture at (x, y) taken from where a matrix leads around the centre."""
    (a, b), (c, d) = matrix
    middle = (image.shape[0] - 1) / 2
    rows, columns = (place - middle for place in grid(image))
    return interpolate(image, middle + c * columns + d * rows, middle + a * columns + b * rows, "zero")


def rotate(image: Array, key: PRNGKey, angle: Traced) -> Array:
    """By an angle to either side."""
    turn = angle * _sign(key, image.dtype)
    return _seen_through(image, ((jnp.cos(turn), -jnp.sin(turn)), (jnp.sin(turn), jnp.cos(turn))))


def shear(image: Array, key: PRNGKey, angle: Traced) -> Array:
    """Rows slide past each other."""
    return _seen_through(image, ((1, -jnp.tan(angle * _sign(key, image.dtype))), (0, 1)))


def scale(image: Array, key: PRNGKey, factor: Traced) -> Array:
    """Smaller by a factor."""
    del key
    return _seen_through(image, ((factor, 0), (0, factor)))


def translate(image: Array, key: PRNGKey, pixels: Traced) -> Array:
    """Along both sides."""
    down, right = (pixels * _sign(k, image.dtype) for k in jax.random.split(key))
    rows, columns = grid(image)
    return interpolate(image, rows + down, columns + right, "zero")


def stripe(image: Array, key: PRNGKey, pixels: Traced) -> Array:
    """Inverted at the left and at the right."""
    del key
    _, columns = grid(image)
    outside = (columns < pixels) | (columns >= image.shape[1] - pixels)
    return jnp.where(outside[..., None], 1 - image, image)
