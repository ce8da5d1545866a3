"""Blurs: of a lens, of glass, of motion, of zooming in. Each takes a picture, a key and the constants of a severity."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from plait._typing import Array, PRNGKey
from plait.data.corruption.resampling import both_sides, gaussian_matrix, grid, look_up, zoom_matrix
from plait.data.corruption.severities import Number


def gaussian_blur(image: Array, key: PRNGKey, sigma: Number) -> Array:
    """A Gaussian filter."""
    del key
    return both_sides(image, gaussian_matrix(image.shape[0], sigma))


def defocus_blur(image: Array, key: PRNGKey, constants: tuple[Number, ...]) -> Array:
    """A disk with a soft rim."""
    del key
    radius, alias = constants
    reach = 8 if radius <= 8 else math.ceil(radius)
    offsets = np.arange(-reach, reach + 1)
    disk = (offsets[:, None] ** 2 + offsets[None] ** 2 <= radius**2).astype(float)
    rim = np.arange(-1, 2) if radius <= 8 else np.arange(-2, 3)
    weights = np.exp(-0.5 * (rim / alias) ** 2)
    weights /= weights.sum()
    soft = np.zeros_like(disk)
    for i, down in zip(rim, weights, strict=True):
        for j, right in zip(rim, weights, strict=True):
            soft += down * right * np.roll(disk / disk.sum(), (i, j), (0, 1))
    padded = jnp.pad(image, ((reach, reach), (reach, reach), (0, 0)), "reflect")
    kernel = jnp.asarray(soft, image.dtype)[:, :, None, None]
    planes = jnp.moveaxis(padded, -1, 0)[..., None]
    numbers = ("NHWC", "HWIO", "NHWC")
    return jnp.moveaxis(
        lax.conv_general_dilated(planes, kernel, (1, 1), "VALID", dimension_numbers=numbers)[..., 0], 0, -1
    )


def zoom_blur(image: Array, key: PRNGKey, constants: tuple[Number, ...]) -> Array:
    """The mean of the picture and of enlargements of its middle."""
    del key
    end, step = constants
    matrices = [zoom_matrix(image.shape[0], factor) for factor in np.arange(1, end, step)]
    return (image + sum(both_sides(image, matrix) for matrix in matrices)) / (len(matrices) + 1)


def motion_blur(image: Array, key: PRNGKey, constants: tuple[Number, ...]) -> Array:
    """Along a line of up to 45 degrees, by a Gaussian to one side of each pixel."""
    angle = jax.random.uniform(key, (), image.dtype, -math.pi / 4, math.pi / 4)
    return moved(image, angle, *constants)


def moved(image: Array, angle: Array, radius: Number, sigma: Number) -> Array:
    """ImageMagick's motion blur: whole steps along a line, weighted by the right half of a Gaussian."""
    steps = np.arange(2 * math.ceil(radius) + 1)
    weights = np.exp(-0.5 * (steps / sigma) ** 2)
    weights /= weights.sum()
    rows, columns = (place.astype(jnp.int32) for place in grid(image))

    def add(total: Array, step: tuple[Array, Array]) -> tuple[Array, None]:
        count, weight = step
        down, right = (jnp.ceil(count * f(angle) - 0.5).astype(jnp.int32) for f in (jnp.sin, jnp.cos))
        return total + weight * look_up(image, rows + down, columns + right, "edge"), None

    xs = (jnp.asarray(steps, image.dtype), jnp.asarray(weights, image.dtype))
    return lax.scan(add, jnp.zeros_like(image), xs)[0]


def glass_blur(image: Array, key: PRNGKey, constants: tuple[Number, ...]) -> Array:
    """Blurred, its pixels moved about one after the other, and blurred again.

    A pixel of a grey picture changes places with a neighbour, every other time. In colour it takes the neighbour's
    value and gives none, as in the pictures that were published.
    """
    sigma, reach, rounds = constants[0], int(constants[1]), int(constants[2])
    size, colours = image.shape[0], image.shape[-1]
    blur = functools.partial(both_sides, matrix=gaussian_matrix(size, sigma))
    # From the far corner on, and never so near to the border that a neighbour lies beyond it.
    places = range(min(size - reach, size - 1), reach, -1)
    order = np.array([(h, w) for _ in range(rounds) for h in places for w in places], np.int32).reshape(-1, 2)
    move_key, skip_key = jax.random.split(key)
    moves = jax.random.randint(move_key, order.shape, -reach, reach)
    if colours == 1:
        moves = moves * jax.random.bernoulli(skip_key, 0.5, (len(order), 1)).astype(moves.dtype)

    def shuffle(picture: Array, step: tuple[Array, Array]) -> tuple[Array, None]:
        here, there = step[0], step[0] + step[1]
        mine, theirs = picture[here[0], here[1]], picture[there[0], there[1]]
        picture = picture.at[here[0], here[1]].set(theirs)
        return (picture.at[there[0], there[1]].set(mine) if colours == 1 else picture), None

    start = jnp.floor(255 * blur(image)) / 255
    shuffled, _ = lax.scan(shuffle, start, (jnp.asarray(order), moves))
    return blur(shuffled)
