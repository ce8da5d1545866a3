"""ResNet-18 on CIFAR-10 as in TensorFlow Probability's example, which paper 000 trains (MATH 1.3, erratum E15).

It is no ResNet-18: one block a stage, 10 layers and 4 projections, 4,901,568 kernel weights. Pre-activation order; the
example's test for a projection compares the channels with the height, so that the first stage has one too. Its batch
normalisation is never trained (no update is run, and it is called in inference mode): what it does is to scale by
gamma / sqrt(1 + 0.001) and shift, with both trained.

    sigma = softplus(rho), from softplus(-9) = 1.234e-4 to at most log 1.2 = 0.1823

Kernels are random, by Flipout; biases and scales are constants.
"""

import math
import sys
from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import Array, PRNGKey
from plait.data import Dataset
from plait.recipes.ktied.experiment import Experiment, main
from plait.recipes.ktied.protocol import Protocol
from plait.recipes.ktied.targets import Targets, rows

WIDTHS = (64, 128, 256, 512)
STRIDES = (1, 2, 2, 2)
EPSILON = 1e-3
"""Keras's, in the square root of batch normalisation."""


class Scaling(eqx.Module):
    """Batch normalisation with the statistics it starts with: mean 0, variance 1."""

    scale: Array
    shift: Array

    def __init__(self, channels: int):
        self.scale = jnp.ones((channels, 1, 1))
        self.shift = jnp.zeros((channels, 1, 1))

    def __call__(self, x: Array) -> Array:
        return x * (self.scale / math.sqrt(1 + EPSILON)) + self.shift


class Block(eqx.Module):
    """Two convolutions beside a projection."""

    scalings: tuple[Scaling, Scaling]
    convolutions: tuple[eqx.nn.Conv2d, eqx.nn.Conv2d]
    projection: eqx.nn.Conv2d

    def __init__(self, channels: int, width: int, stride: int, *, key: PRNGKey):
        first, second, third = jax.random.split(key, 3)
        self.scalings = (Scaling(channels), Scaling(width))
        self.convolutions = (
            _convolution(channels, width, 3, stride, first),
            _convolution(width, width, 3, 1, second),
        )
        self.projection = _convolution(channels, width, 1, stride, third)

    def __call__(self, x: Array) -> Array:
        y = jax.nn.relu(self.scalings[0](x))
        y = self.convolutions[0](y)
        y = self.convolutions[1](jax.nn.relu(self.scalings[1](y)))
        return y + self.projection(x)


class ResNet(eqx.Module):
    """A convolution, four blocks, a dense layer."""

    stem: eqx.nn.Conv2d
    blocks: tuple[Block, ...]
    scaling: Scaling
    head: eqx.nn.Linear

    def __init__(self, widths: tuple[int, ...], outputs: int, *, key: PRNGKey):
        first, last, *keys = jax.random.split(key, len(widths) + 2)
        self.stem = _convolution(3, widths[0], 3, 1, first)
        before = (widths[0], *widths[:-1])
        stages = zip(before, widths, STRIDES, keys, strict=True)
        self.blocks = tuple(Block(channels, width, stride, key=k) for channels, width, stride, k in stages)
        self.scaling = Scaling(widths[-1])
        self.head = _with_means(eqx.nn.Linear(widths[-1], outputs, key=last), last)

    def __call__(self, x: Array) -> Array:
        x = self.stem(jnp.moveaxis(x, -1, 0))  # [64, 32, 32]
        for block in self.blocks:
            x = block(x)
        x = jax.nn.relu(self.scaling(x))  # [512, 4, 4]
        return self.head(jnp.mean(x, axis=(1, 2)))


def _convolution(channels: int, width: int, size: int, stride: int, key: PRNGKey) -> eqx.nn.Conv2d:
    layer = eqx.nn.Conv2d(channels, width, size, stride, padding="SAME" if size > 1 else 0, key=key)
    return _with_means(layer, key)


def _with_means(layer: Any, key: PRNGKey) -> Any:
    """N(0, 0.1^2) and no bias, as the example's means start."""
    means = 0.1 * jax.random.normal(key, layer.weight.shape)
    return eqx.tree_at(lambda each: (each.weight, each.bias), layer, (means, jnp.zeros_like(layer.bias)))


def network(dataset: Dataset, key: PRNGKey, *, widths: tuple[int, ...]) -> ResNet:
    """For pictures of three colours."""
    return ResNet(widths, dataset.target_size, key=key)


PROTOCOL = Protocol(
    "CIFAR-10, ResNet-18 of TensorFlow Probability's example",
    "cifar10",
    partial(network, widths=WIDTHS),
    tied=("conv", "dense"),
    pixels="unit",
    centred=True,
    estimator="flipout",
    prior_scale=1.0,
    init_scale=math.log1p(math.exp(-9)),
    transform="softplus",
    max_scale=math.log(1.2),
    learning_rate=1e-4,
    batch_size=128,
    epochs=700,
    kl_coefficient=None,
    kl_epochs=50,
    num_samples=50,
    starts=(),
)
PROTOCOL_HE = replace(PROTOCOL, title="CIFAR-10, ResNet-18 with He's prior (paper 000)", prior_scale=None)
SMALL = replace(
    PROTOCOL_HE,
    title="CIFAR-10, ResNet-18 of 2 to 16 channels for one epoch: shows no more than that it runs",
    network=partial(network, widths=(2, 4, 8, 16)),
    batch_size=1000,
    epochs=1,
    kl_epochs=1,
    num_samples=2,
    ranks=(1,),
)

TARGETS = Targets(
    truncated=rows(
        full="1.379 0.0096 0.6384 0.0096 79.0 0.41",
        one="5.428 0.018 1.485 0.0056 57.0 0.50",
        two="1.448 0.0097 0.648 0.0079 78.8 0.41",
        three="1.411 0.0097 0.646 0.0079 78.9 0.41",
    )
)
"""Of the mean field with He's prior, truncated after training, although the rows are labelled k-tied."""


EXPERIMENT = Experiment("ktied-resnet", "resnet", PROTOCOL_HE, SMALL, TARGETS)
reproduce = EXPERIMENT.reproduce


if __name__ == "__main__":
    sys.exit(main(EXPERIMENT))
