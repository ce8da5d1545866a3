"""Blocks of 3 x 3 convolutions with ELU, each followed by 2 x 2 pooling, then one dense layer.

    Fashion-MNIST    1-10-(mp)-20-(mp)-40-(mp)-80-(mp)-10
    VGG-like         3-10-10-10-(mp)-20-20-20-(mp)-40-40-40-(mp)-20-20-20-(mp)-10, or with all channels doubled

Paper 002, sections 5.1 to 5.3. Without biases the second has 62,270 weights, doubled 246,940, as in tables 1 and 2.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import Array, PRNGKey
from plait.recipes.networks import dense, halved, rescaled

FASHION = ((10,), (20,), (40,), (80,))
VGG = ((10, 10, 10), (20, 20, 20), (40, 40, 40), (20, 20, 20))


class Blocks(eqx.Module):
    """The network, for pictures [height, width] or [height, width, channels]."""

    blocks: tuple[tuple[eqx.nn.Conv2d, ...], ...]
    head: eqx.nn.Linear

    def __init__(self, shape: tuple[int, ...], channels: tuple[tuple[int, ...], ...], outputs: int, *, key: PRNGKey):
        height, width, *colours = shape
        fan_in = colours[0] if colours else 1
        blocks = []
        for block in channels:
            layers = []
            for fan_out in block:
                key, own = jax.random.split(key)
                layers.append(rescaled(eqx.nn.Conv2d(fan_in, fan_out, 3, padding="SAME", key=own), 9 * fan_in, own))
                fan_in = fan_out
            blocks.append(tuple(layers))
            height, width = height // 2, width // 2
        self.blocks = tuple(blocks)
        self.head = dense(height * width * fan_in, outputs, key=key)

    def __call__(self, x: Array) -> Array:
        x = x[None] if x.ndim == 2 else jnp.moveaxis(x, -1, 0)  # [channels, height, width]
        for block in self.blocks:
            for convolution in block:
                x = jax.nn.elu(convolution(x))
            x = halved(x)
        return self.head(x.reshape(-1))
