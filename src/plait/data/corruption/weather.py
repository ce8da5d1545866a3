"""Snow, frost, fog, brightness. Each takes a picture, a key and the constants of a severity."""

import math

import jax
import jax.numpy as jnp

from plait._random import normal
from plait._typing import Array, PRNGKey
from plait.data.corruption.blur import moved
from plait.data.corruption.resampling import both_sides, zoom_matrix
from plait.data.corruption.severities import Number, Traced

LUMA = (0.299, 0.587, 0.114)
"""How bright red, green and blue are."""


def grey_of(image: Array) -> Array:
    """[height, width, 1]."""
    if image.shape[-1] == 1:
        return image
    return jnp.sum(image * jnp.asarray(LUMA, image.dtype)[None, None], axis=-1, keepdims=True)


def brightness(image: Array, key: PRNGKey, summand: Traced) -> Array:
    """The value of hue, saturation and value, raised."""
    del key
    value = jnp.max(image, axis=-1, keepdims=True)
    raised = jnp.minimum(value + summand, 1)
    return jnp.where(value > 0, image * raised / jnp.where(value > 0, value, 1), raised)


def fog(image: Array, key: PRNGKey, constants: tuple[Traced, ...]) -> Array:
    """Under a fractal of the picture's size, dimmed so that the brightest pixel stays."""
    strength, decay = constants
    size = image.shape[0]
    # Of MNIST-C a corner of a large fractal, of CIFAR-10-C a whole one.
    whole = 256 if size & (size - 1) else size
    cloud = plasma(key, whole, decay)[:size, :size, None].astype(image.dtype)
    brightest = jnp.max(image)
    return (image + strength * cloud) * brightest / (brightest + strength)


def plasma(key: PRNGKey, size: int, decay: Traced) -> Array:
    """A fractal landscape in [0, 1] by the diamond-square algorithm, on a torus; `size` is a power of 2."""
    corners, rough = jnp.zeros((1, 1)), jnp.asarray(100.0)

    def around(total: Array, key: PRNGKey, rough: Array) -> Array:
        # The roughness enters twice, as it was released.
        return total / 4 + rough * jax.random.uniform(key, total.shape, total.dtype, -rough, rough)

    while len(corners) < size:
        key, *keys = jax.random.split(key, 4)
        total = corners + jnp.roll(corners, -1, axis=0)
        centres = around(total + jnp.roll(total, -1, axis=1), keys[0], rough)
        total = centres + jnp.roll(centres, 1, axis=0) + corners + jnp.roll(corners, -1, axis=1)
        above = around(total, keys[1], rough)
        total = centres + jnp.roll(centres, 1, axis=1) + corners + jnp.roll(corners, -1, axis=0)
        beside = around(total, keys[2], rough)
        rows = [jnp.stack(pair, axis=-1) for pair in ((corners, above), (beside, centres))]
        corners, rough = jnp.stack(rows, axis=1).reshape(2 * len(corners), -1), rough / decay
    heights = corners - jnp.min(corners)
    return heights / jnp.max(heights)


def frost(image: Array, key: PRNGKey, constants: tuple[Traced, ...]) -> Array:
    """Under bluish ice. The publication mixes in photographs; here it is a ridged fractal of their brightness."""
    ours, theirs = constants
    size = image.shape[0]
    whole = 1 << (size - 1).bit_length()
    landscape, grain = (
        plasma(k, whole, decay)[:size, :size] for k, decay in zip(jax.random.split(key), (1.6, 1.2), strict=True)
    )
    # Crystals are bright along the lines where a landscape crosses its middle height.
    ridges = 1 - jnp.abs(2 * landscape - 1)
    ice = jnp.clip(0.25 + 0.75 * ridges**3 + 0.4 * (grain - 0.5), 0, 1)[..., None].astype(image.dtype)
    tint = jnp.asarray((0.82, 0.92, 1.0) if image.shape[-1] == 3 else (0.9,), image.dtype)[None, None]
    return ours * image + theirs * ice * tint


def snow(image: Array, key: PRNGKey, constants: tuple[Number, ...]) -> Array:
    """Flakes blown down by the wind, twice, over a picture that fades to white."""
    mean, std, zoom, threshold, radius, sigma, share = constants
    flake_key, angle_key = jax.random.split(key)
    flakes = mean + std * normal(flake_key, (*image.shape[:2], 1), image.dtype)
    flakes = both_sides(flakes, zoom_matrix(image.shape[0], zoom))
    flakes = jnp.floor(255 * jnp.clip(jnp.where(flakes < threshold, 0, flakes), 0, 1)) / 255
    angle = jax.random.uniform(angle_key, (), image.dtype, -3 * math.pi / 4, -math.pi / 4)
    blown = moved(flakes, angle, radius, sigma)
    faded = share * image + (1 - share) * jnp.maximum(image, 1.5 * grey_of(image) + 0.5)
    return faded + blown + jnp.rot90(blown, 2)
