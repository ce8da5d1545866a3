"""Noise on pixels x in [0, 1]: each function takes a picture, a key and the constants of a severity."""

import jax
import jax.numpy as jnp

from plait._random import normal
from plait._typing import Array, PRNGKey
from plait.data.corruption.severities import Traced


def gaussian_noise(image: Array, key: PRNGKey, scale: Traced) -> Array:
    """x + scale eps."""
    return image + scale * normal(key, image.shape, image.dtype)


def speckle_noise(image: Array, key: PRNGKey, scale: Traced) -> Array:
    """x + x scale eps."""
    return image + image * scale * normal(key, image.shape, image.dtype)


def shot_noise(image: Array, key: PRNGKey, photons: Traced) -> Array:
    """Poisson(photons x) / photons."""
    return jax.random.poisson(key, photons * image).astype(image.dtype) / photons


def impulse_noise(image: Array, key: PRNGKey, amount: Traced) -> Array:
    """Entries set to 0 or 1, as often the one as the other."""
    uniform = jax.random.uniform(key, image.shape, image.dtype)
    return jnp.where(uniform < amount, (uniform < amount / 2).astype(image.dtype), image)
