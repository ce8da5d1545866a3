"""Pictures looked at from elsewhere: blurred, resized and bent. A picture is [height, width, colours].

What is separable and the same for all pictures is a matrix for each side, made once: x -> A x B^T.
"""

import math
from typing import Literal

import jax.numpy as jnp
import numpy as np

from plait._typing import Array
from plait.data.corruption.severities import Number

Border = Literal["edge", "reflect", "mirror", "zero"]
"""Beyond a b c d: "edge" d d, "reflect" d c (the last entry twice), "mirror" c b, "zero" nothing."""


def both_sides(image: Array, matrix: np.ndarray) -> Array:
    """A square matrix applied to rows and columns of a square picture."""
    weights = jnp.asarray(matrix, image.dtype)
    return jnp.einsum("ih,hwc,jw->ijc", weights, image, weights)


def folded(index: np.ndarray, size: int, border: Border) -> np.ndarray:
    """The entry that stands in for one beyond the border."""
    if border == "edge":
        return np.clip(index, 0, size - 1)
    period = 2 * size if border == "reflect" else max(2 * size - 2, 1)
    index = index % period
    return np.where(index < size, index, period - index - (1 if border == "reflect" else 0))


def gaussian_matrix(size: int, sigma: Number, *, truncate: float = 4.0, border: Border = "edge") -> np.ndarray:
    """A Gaussian blur along one side, cut off at `truncate` sigmas."""
    radius = int(truncate * sigma + 0.5)
    if radius == 0:
        return np.eye(size)
    offsets = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * (offsets / sigma) ** 2)
    matrix = np.zeros((size, size))
    for row in range(size):
        np.add.at(matrix[row], folded(row + offsets, size, border), weights / weights.sum())
    return matrix


def zoom_matrix(size: int, factor: Number) -> np.ndarray:
    """The middle of one side, enlarged by linear interpolation and cut to the old size."""
    kept = math.ceil(size / factor)
    top, grown = (size - kept) // 2, round(kept * factor)
    trim = (grown - size) // 2
    places = top + (np.arange(size) + trim) * ((kept - 1) / max(grown - 1, 1))
    low = np.minimum(np.floor(places).astype(int), top + kept - 1)
    high, share = np.minimum(low + 1, top + kept - 1), places - low
    matrix = np.zeros((size, size))
    np.add.at(matrix, (np.arange(size), low), 1 - share)
    np.add.at(matrix, (np.arange(size), high), share)
    return matrix


def pixelate_matrix(size: int, share: float) -> np.ndarray:
    """Averages of boxes along one side, and back to the old size: what Pillow's BOX filter does twice."""
    small = int(size * share)
    scale = size / small
    centres = (np.arange(small) + 0.5) * scale
    distance = (np.arange(size)[None] - centres[:, None] + 0.5) / scale
    inside = ((distance > -0.5) & (distance <= 0.5)).astype(float)
    down = inside / inside.sum(axis=1, keepdims=True)
    return down[np.minimum((np.arange(size) + 0.5) / scale, small - 1).astype(int)]


def look_up(image: Array, rows: Array, columns: Array, border: Border) -> Array:
    """The picture at whole places, [...] of rows and columns."""
    height, width, _ = image.shape
    if border == "zero":
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        return jnp.where(inside[..., None], look_up(image, rows, columns, "edge"), 0)
    return image[_folded(rows, height, border), _folded(columns, width, border)]


def _folded(index: Array, size: int, border: Border) -> Array:
    """`folded` for places that are found on the device."""
    if border == "edge":
        return jnp.clip(index, 0, size - 1)
    period = 2 * size if border == "reflect" else max(2 * size - 2, 1)
    index = index % period
    return jnp.where(index < size, index, period - index - (1 if border == "reflect" else 0))


def interpolate(image: Array, rows: Array, columns: Array, border: Border) -> Array:
    """The picture between its places, bilinearly."""
    top, left = jnp.floor(rows), jnp.floor(columns)
    down, right = (rows - top)[..., None], (columns - left)[..., None]
    i, j = top.astype(jnp.int32), left.astype(jnp.int32)
    above = look_up(image, i, j, border) * (1 - right) + look_up(image, i, j + 1, border) * right
    below = look_up(image, i + 1, j, border) * (1 - right) + look_up(image, i + 1, j + 1, border) * right
    return above * (1 - down) + below * down


def grid(image: Array) -> tuple[Array, Array]:
    """The place of every pixel, rows and columns."""
    height, width, _ = image.shape
    rows, columns = jnp.meshgrid(jnp.arange(height), jnp.arange(width), indexing="ij")
    return rows.astype(image.dtype), columns.astype(image.dtype)
