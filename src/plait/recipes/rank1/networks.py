"""The networks of paper 003, called per example: Wide ResNets (Zagoruyko & Komodakis 2016), ResNet-50 (v1.5), an MLP
and an LSTM. What has batch normalisation returns `(logits, statistics)` while these are collected."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import Array, PRNGKey
from plait.recipes.rank1.batch_norm import BatchNorm, Seen, he_convolution, pixels_first


class WideBlock(eqx.Module):
    """Norm, ReLU, convolution, twice; pre-activation."""

    norms: tuple[BatchNorm, BatchNorm]
    convolutions: tuple[eqx.nn.Conv2d, eqx.nn.Conv2d]
    projection: eqx.nn.Conv2d | None

    def __init__(self, channels: int, width: int, stride: int, *, key: PRNGKey):
        first, second, third = jax.random.split(key, 3)
        self.norms = (BatchNorm.of(channels), BatchNorm.of(width))
        self.convolutions = (
            he_convolution(channels, width, 3, stride, first),
            he_convolution(width, width, 3, 1, second),
        )
        needed = channels != width or stride != 1
        self.projection = he_convolution(channels, width, 1, stride, third) if needed else None

    def __call__(self, x: Array, seen: Seen) -> Array:
        y = self.convolutions[0](jax.nn.relu(self.norms[0](x, seen)))
        y = self.convolutions[1](jax.nn.relu(self.norms[1](y, seen)))
        return y + (x if self.projection is None else self.projection(x))


class WideResNet(eqx.Module):
    """WRN-`depth`-`width`: three stages of (depth - 4) / 6 blocks with 16, 32 and 64 times `width` channels."""

    stem: eqx.nn.Conv2d
    blocks: tuple[WideBlock, ...]
    norm: BatchNorm
    head: eqx.nn.Linear

    def __init__(self, depth: int, width: int, colours: int, outputs: int, *, key: PRNGKey):
        if depth < 10 or (depth - 4) % 6 or width < 1:
            raise ValueError(f"a Wide ResNet has a depth of 6 n + 4 and a width of at least 1, got {depth} and {width}")
        first, last, *keys = jax.random.split(key, (depth - 4) // 2 + 2)
        self.stem = he_convolution(colours, 16, 3, 1, first)
        blocks, channels = [], 16
        for index, block_key in enumerate(keys):
            stage, place = divmod(index, len(keys) // 3)
            after = 16 * width * 2**stage
            blocks.append(WideBlock(channels, after, 2 if stage and not place else 1, key=block_key))
            channels = after
        self.blocks, self.norm = tuple(blocks), BatchNorm.of(channels)
        self.head = _he_linear(channels, outputs, last)

    def __call__(self, x: Array) -> Any:
        seen: Seen = {}
        x = self.stem(pixels_first(x))  # [16, 32, 32]
        for block in self.blocks:
            x = block(x, seen)
        x = jax.nn.relu(self.norm(x, seen))  # [64 width, 8, 8]
        return _with_seen(self.head(jnp.mean(x, axis=(1, 2))), seen)


class Bottleneck(eqx.Module):
    """1 x 1, 3 x 3 and 1 x 1 convolutions, the middle one strided."""

    norms: tuple[BatchNorm, BatchNorm, BatchNorm]
    convolutions: tuple[eqx.nn.Conv2d, eqx.nn.Conv2d, eqx.nn.Conv2d]
    projection: tuple[eqx.nn.Conv2d, BatchNorm] | None

    def __init__(self, channels: int, width: int, stride: int, *, key: PRNGKey):
        *keys, last = jax.random.split(key, 4)
        shapes = ((channels, width, 1, 1), (width, width, 3, stride), (width, 4 * width, 1, 1))
        layers = [he_convolution(*shape, k) for shape, k in zip(shapes, keys, strict=True)]
        self.convolutions = (layers[0], layers[1], layers[2])
        self.norms = (BatchNorm.of(width), BatchNorm.of(width), BatchNorm.of(4 * width))
        needed = channels != 4 * width or stride != 1
        self.projection = (
            (he_convolution(channels, 4 * width, 1, stride, last), BatchNorm.of(4 * width)) if needed else None
        )

    def __call__(self, x: Array, seen: Seen) -> Array:
        y = x
        for index, (convolution, norm) in enumerate(zip(self.convolutions, self.norms, strict=True)):
            y = norm(convolution(y), seen)
            y = jax.nn.relu(y) if index < 2 else y
        short = x if self.projection is None else self.projection[1](self.projection[0](x), seen)
        return jax.nn.relu(y + short)


class ResNet50(eqx.Module):
    """3, 4, 6 and 3 bottlenecks of 64 to 512 channels, four times as many between them; `width` scales them all."""

    stem: eqx.nn.Conv2d
    norm: BatchNorm
    blocks: tuple[Bottleneck, ...]
    head: eqx.nn.Linear

    def __init__(self, outputs: int, *, width: int = 64, key: PRNGKey):
        first, last, *keys = jax.random.split(key, 18)
        self.stem, self.norm = he_convolution(3, width, 7, 2, first), BatchNorm.of(width)
        blocks, channels = [], width
        for stage, count in enumerate((3, 4, 6, 3)):
            for place in range(count):
                stride = 2 if stage and not place else 1
                blocks.append(Bottleneck(channels, width * 2**stage, stride, key=keys[len(blocks)]))
                channels = 4 * width * 2**stage
        self.blocks = tuple(blocks)
        made = eqx.nn.Linear(channels, outputs, key=last)
        start = (0.01 * jax.random.normal(last, made.weight.shape), jnp.zeros(outputs))
        self.head = eqx.tree_at(lambda each: (each.weight, each.bias), made, start)

    def __call__(self, x: Array) -> Any:
        seen: Seen = {}
        x = jax.nn.relu(self.norm(self.stem(pixels_first(x)), seen))  # [64, 112, 112]
        x = eqx.nn.MaxPool2d(3, 2, padding=1)(x)
        for block in self.blocks:
            x = block(x, seen)
        return _with_seen(self.head(jnp.mean(x, axis=(1, 2))), seen)


def _he_linear(fan_in: int, fan_out: int, key: PRNGKey) -> eqx.nn.Linear:
    layer = eqx.nn.Linear(fan_in, fan_out, key=key)
    weight = (2 / fan_in) ** 0.5 * jax.random.normal(key, layer.weight.shape)
    return eqx.tree_at(lambda each: (each.weight, each.bias), layer, (weight, jnp.zeros(fan_out)))


def _with_seen(logits: Array, seen: Seen) -> Any:
    return (logits, seen) if seen else logits
