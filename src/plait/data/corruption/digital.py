"""What cameras and files do: contrast, colour, elastic bending, pixels, JPEG. Picture, key, constants of a severity."""

import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, PRNGKey
from plait.data.corruption.resampling import both_sides, gaussian_matrix, grid, interpolate, pixelate_matrix
from plait.data.corruption.severities import Number, Traced


def contrast(image: Array, key: PRNGKey, factor: Traced) -> Array:
    """Towards the mean of each colour."""
    del key
    mean = jnp.mean(image, axis=(0, 1), keepdims=True)
    return mean + factor * (image - mean)


def saturate(image: Array, key: PRNGKey, constants: tuple[Traced, ...]) -> Array:
    """The saturation of hue, saturation and value. A grey picture has none, and its value is changed instead."""
    del key
    factor, summand = constants
    if image.shape[-1] == 1:
        return factor * image + summand
    value, least = (f(image, axis=-1, keepdims=True) for f in (jnp.max, jnp.min))
    spread = value - least
    saturation = spread / jnp.where(value > 0, value, 1)
    wanted = jnp.clip(factor * saturation + summand, 0, 1)
    coloured = value - (value - image) * wanted / jnp.where(spread > 0, saturation, 1)
    # Grey has no hue; by convention it is that of red.
    red = value * (1 - wanted * jnp.asarray((0, 1, 1), image.dtype)[None, None])
    return jnp.where(spread > 0, coloured, red)


def pixelate(image: Array, key: PRNGKey, share: Number) -> Array:
    """Fewer and larger pixels."""
    del key
    return both_sides(image, pixelate_matrix(image.shape[0], float(share)))


def elastic_transform(image: Array, key: PRNGKey, constants: tuple[Number, ...]) -> Array:
    """An affine map whose three corners are jittered, then smooth displacements."""
    size = image.shape[0]
    length, sigma, jitter = (size * value for value in constants)
    corner_key, *keys = jax.random.split(key, 3)
    centre, reach = size // 2, size // 3
    corners = np.array([[1, 1], [1, -1], [-1, -1]]) * reach + centre
    moved = jnp.asarray(corners, image.dtype) + jax.random.uniform(corner_key, (3, 2), image.dtype, -jitter, jitter)
    # moved = corners A + b, with three rows to solve for both; what is looked up is its inverse.
    solve = np.linalg.inv(np.concatenate([corners, np.ones((3, 1))], axis=1))
    (a, b), (c, d), shift = jnp.asarray(solve, image.dtype) @ moved
    columns, rows = (place - s for place, s in zip(grid(image)[::-1], shift, strict=True))
    determinant = a * d - b * c
    border = "zero" if image.shape[-1] == 1 else "mirror"
    bent = interpolate(image, (a * rows - b * columns) / determinant, (d * columns - c * rows) / determinant, border)
    smooth = gaussian_matrix(size, sigma, truncate=3.0, border="reflect")

    def displacement(key: PRNGKey) -> Array:
        noise = jax.random.uniform(key, (size, size, 1), image.dtype, -1, 1)
        return length * both_sides(noise, smooth)[..., 0]

    rows, columns = (place + displacement(k) for place, k in zip(grid(image), keys, strict=True))
    return interpolate(bent, rows, columns, "zero" if image.shape[-1] == 1 else "reflect")
