"""VGG16 with half its channels: thirteen 3 x 3 convolutions in five blocks, each halved, and one dense layer."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import Array, PRNGKey
from plait.recipes.networks import rescaled

HALF: tuple[tuple[int, int], ...] = ((32, 2), (64, 2), (128, 3), (256, 3), (256, 3))
"""Channels and convolutions of each block (MATH 3.7)."""


class VGG(eqx.Module):
    """Pictures [height, width, colours], or [height, width], to outputs."""

    blocks: tuple[tuple[eqx.nn.Conv2d, ...], ...]
    head: eqx.nn.Linear

    def __init__(
        self, shape: tuple[int, ...], outputs: int, blocks: tuple[tuple[int, int], ...] = HALF, *, key: PRNGKey
    ):
        colours = shape[2] if len(shape) == 3 else 1
        sizes = [channels for channels, count in blocks for _ in range(count)]
        *keys, head_key = jax.random.split(key, len(sizes) + 1)
        pairs = zip(itertools.pairwise((colours, *sizes)), keys, strict=True)
        layers = iter([_convolution(*pair, key=k) for pair, k in pairs])
        self.blocks = tuple(tuple(next(layers) for _ in range(count)) for _, count in blocks)
        self.head = eqx.nn.Linear(sizes[-1], outputs, key=head_key)

    def __call__(self, x: Array) -> Array:
        x = x[None] if x.ndim == 2 else jnp.moveaxis(x, -1, 0)  # [channels, height, width]
        for block in self.blocks:
            for convolution in block:
                x = jax.nn.relu(convolution(x))
            channels, height, width = x.shape
            # By reshape: XLA's reduce_window is slow on a CPU.
            x = jnp.max(x.reshape(channels, height // 2, 2, width // 2, 2), axis=(2, 4))
        # Of 32 x 32 pixels one is left.
        return self.head(jnp.mean(x, axis=(1, 2)))


def _convolution(fan_in: int, channels: int, *, key: PRNGKey) -> eqx.nn.Conv2d:
    layer = eqx.nn.Conv2d(fan_in, channels, 3, padding="SAME", key=key)
    return rescaled(layer, 9 * fan_in, key)
