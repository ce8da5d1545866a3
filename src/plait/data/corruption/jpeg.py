"""JPEG as far as it loses anything: colour transform, half the colour resolution, rounded cosine coefficients.

ITU-T T.81, annex K, with libjpeg's scaling of the tables by quality; what follows in a file is lossless.
"""

import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, PRNGKey
from plait.data.corruption.severities import Number

LUMINANCE = np.array(
    [
        [16, 11, 10, 16, 24, 40, 51, 61],
        [12, 12, 14, 19, 26, 58, 60, 55],
        [14, 13, 16, 24, 40, 57, 69, 56],
        [14, 17, 22, 29, 51, 87, 80, 62],
        [18, 22, 37, 56, 68, 109, 103, 77],
        [24, 35, 55, 64, 81, 104, 113, 92],
        [49, 64, 78, 87, 103, 121, 120, 101],
        [72, 92, 95, 98, 112, 100, 103, 99],
    ]
)
CHROMINANCE = np.full((8, 8), 99)
CHROMINANCE[:4, :4] = [[17, 18, 24, 47], [18, 21, 26, 66], [24, 26, 56, 99], [47, 66, 99, 99]]
TO_YCC = np.array([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]])


def _cosines() -> np.ndarray:
    frequency, place = np.arange(8)[:, None], np.arange(8)[None]
    rows = 0.5 * np.cos((2 * place + 1) * frequency * np.pi / 16)
    rows[0] /= np.sqrt(2)
    return rows


COSINES = _cosines()


def jpeg_compression(image: Array, key: PRNGKey, quality: Number) -> Array:
    """The picture after writing and reading it."""
    del key
    height, width, colours = image.shape
    pixels = 255 * image
    if colours == 1:
        return (_plane(pixels[..., 0] - 128, LUMINANCE, quality) + 128)[..., None] / 255
    # Whole blocks of 16 x 16, of which the colours keep 8 x 8.
    padded = jnp.pad(pixels, ((0, -height % 16), (0, -width % 16), (0, 0)), "edge")
    luma, *chroma = jnp.moveaxis(jnp.einsum("kc,hwc->hwk", jnp.asarray(TO_YCC, image.dtype), padded), -1, 0)
    luma = _plane(jnp.round(luma) - 128, LUMINANCE, quality)
    halved = [c.reshape(c.shape[0] // 2, 2, c.shape[1] // 2, 2).mean(axis=(1, 3)) for c in chroma]
    doubled = [_doubled(_doubled(_plane(jnp.round(c), CHROMINANCE, quality)).T).T for c in halved]
    ycc = jnp.stack([luma + 128, *map(jnp.round, doubled)], axis=-1)
    rgb = jnp.einsum("ck,hwk->hwc", jnp.asarray(np.linalg.inv(TO_YCC), image.dtype), ycc)
    return jnp.clip(jnp.round(rgb), 0, 255)[:height, :width] / 255


def table(base: np.ndarray, quality: Number) -> np.ndarray:
    """The steps of each coefficient at a quality from 1 to 100."""
    scale = 5000 / quality if quality < 50 else 200 - 2 * quality
    return np.clip((base * int(scale) + 50) // 100, 1, 255)


def _plane(plane: Array, base: np.ndarray, quality: Number) -> Array:
    """One colour, rounded block by block."""
    height, width = plane.shape
    plane = jnp.pad(plane, ((0, -height % 8), (0, -width % 8)), "edge")
    cosines, steps = jnp.asarray(COSINES, plane.dtype), jnp.asarray(table(base, quality), plane.dtype)
    blocks = plane.reshape(plane.shape[0] // 8, 8, plane.shape[1] // 8, 8)
    exact = jax.lax.Precision.HIGHEST
    coefficients = jnp.einsum("ui,aibj,vj->aubv", cosines, blocks, cosines, precision=exact)
    rounded = jnp.round(coefficients / steps[None, :, None]) * steps[None, :, None]
    back = jnp.einsum("ui,aubv,vj->aibj", cosines, rounded, cosines, precision=exact)
    # As a byte.
    return jnp.clip(jnp.round(back.reshape(plane.shape)[:height, :width]), -128, 127)


def _doubled(plane: Array) -> Array:
    """Twice as many rows, each between two old ones: 3/4 of the nearer, 1/4 of the other."""
    above = jnp.concatenate([plane[:1], plane[:-1]])
    below = jnp.concatenate([plane[1:], plane[-1:]])
    both = jnp.stack([0.75 * plane + 0.25 * above, 0.75 * plane + 0.25 * below], axis=1)
    return both.reshape(2 * plane.shape[0], plane.shape[1])
