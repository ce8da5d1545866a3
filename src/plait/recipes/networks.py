"""Equinox networks by name, for data of any shape. They are called per example, as `plait.bayesianize` expects.

mlp      any input, flattened; `widths` hidden layers, by default two of 100
cnn      pictures; 3 x 3 convolutions of `widths` channels, each halved in size, then one dense layer of the last
         width; by default 16, 32 and 64
lenet    pictures; as cnn with 5 x 5 convolutions, by default 32, 64 and 512
lstm     word ids; an embedding and an LSTM of `widths`, by default 64 and 64, whose last state is classified
"""

import itertools
from collections.abc import Callable
from typing import Any, Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import Array, PRNGKey

NetworkName = Literal["mlp", "cnn", "lenet", "lstm"]
ActivationName = Literal["relu", "tanh", "elu", "gelu", "silu"]

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {name: getattr(jax.nn, name) for name in get_args(ActivationName)}
WIDTHS: dict[str, tuple[int, ...]] = {
    "mlp": (100, 100),
    "cnn": (16, 32, 64),
    "lenet": (32, 64, 512),
    "lstm": (64, 64),
}


class Perceptron(eqx.Module):
    """Dense layers with an activation between them."""

    layers: tuple[eqx.nn.Linear, ...]
    activation: ActivationName = eqx.field(static=True)

    def __init__(self, sizes: tuple[int, ...], activation: ActivationName, *, key: PRNGKey):
        pairs = list(itertools.pairwise(sizes))
        self.layers = tuple(
            _dense(*pair, key=k) for pair, k in zip(pairs, jax.random.split(key, len(pairs)), strict=True)
        )
        self.activation = activation

    def __call__(self, x: Array) -> Array:
        x = x.reshape(-1)
        for layer in self.layers[:-1]:
            x = ACTIVATIONS[self.activation](layer(x))
        return self.layers[-1](x)


class Convolutional(eqx.Module):
    """Convolutions, each followed by an activation and 2 x 2 pooling, then dense layers."""

    convolutions: tuple[eqx.nn.Conv2d, ...]
    head: Perceptron
    activation: ActivationName = eqx.field(static=True)

    def __init__(
        self,
        shape: tuple[int, ...],
        channels: tuple[int, ...],
        hidden: int,
        outputs: int,
        size: int,
        activation: ActivationName,
        *,
        key: PRNGKey,
    ):
        height, width, *colours = shape
        *keys, head_key = jax.random.split(key, len(channels) + 1)
        pairs = itertools.pairwise((*colours, *channels) if colours else (1, *channels))
        self.convolutions = tuple(
            rescaled(eqx.nn.Conv2d(*pair, size, padding="SAME", key=k), pair[0] * size**2, k)
            for pair, k in zip(pairs, keys, strict=True)
        )
        shrunk = 2 ** len(channels)
        flat = (height // shrunk) * (width // shrunk) * channels[-1]
        self.head = Perceptron((flat, hidden, outputs), activation, key=head_key)
        self.activation = activation

    def __call__(self, x: Array) -> Array:
        x = x[None] if x.ndim == 2 else jnp.moveaxis(x, -1, 0)  # [channels, height, width]
        for convolution in self.convolutions:
            x = _halved(ACTIVATIONS[self.activation](convolution(x)))
        return self.head(x)


class Recurrent(eqx.Module):
    """An LSTM over word ids; its last state goes to a dense layer."""

    embedding: eqx.nn.Embedding
    cell: eqx.nn.LSTMCell
    head: eqx.nn.Linear

    def __init__(self, vocabulary: int, embedded: int, hidden: int, outputs: int, *, key: PRNGKey):
        first, second, third = jax.random.split(key, 3)
        self.embedding = eqx.nn.Embedding(weight=0.1 * jax.random.normal(first, (vocabulary, embedded)))
        self.cell = eqx.nn.LSTMCell(embedded, hidden, key=second)
        self.head = eqx.nn.Linear(hidden, outputs, key=third)

    def __call__(self, tokens: Array) -> Array:
        words = jax.vmap(self.embedding)(tokens)  # [words, embedded]

        def step(state: tuple[Array, Array], word: Array) -> tuple[tuple[Array, Array], None]:
            return self.cell(word, state), None

        start = jnp.zeros(self.cell.hidden_size, words.dtype)
        (hidden, _), _ = jax.lax.scan(step, (start, start), words)
        return self.head(hidden)


def build_network(
    name: NetworkName,
    input_shape: tuple[int, ...],
    outputs: int,
    *,
    widths: tuple[int, ...] | None = None,
    activation: ActivationName = "relu",
    vocabulary_size: int | None = None,
    key: PRNGKey,
) -> Any:
    """A network for inputs of a shape, or an error that says why it cannot take them."""
    sizes = WIDTHS[name] if widths is None else widths
    if any(size < 1 for size in sizes):
        raise ValueError(f"`widths` are sizes of layers and must be at least 1, got {sizes}")
    if (vocabulary_size is not None) != (name == "lstm"):
        data = "words" if vocabulary_size is not None else f"numbers of shape {input_shape}"
        raise ValueError(f"the network {name!r} does not take {data}; `lstm` is for words, the others for numbers")
    if name == "mlp":
        flat = jax.numpy.zeros(input_shape).size
        return Perceptron((flat, *sizes, outputs), activation, key=key)
    if name == "lstm":
        assert vocabulary_size is not None
        if len(sizes) != 2:
            raise ValueError(f"`widths` of an lstm are two, of the embedding and of the state, got {sizes}")
        return Recurrent(vocabulary_size, *sizes, outputs, key=key)
    *channels, hidden = sizes
    if len(input_shape) not in (2, 3) or not channels or min(input_shape[:2]) < 2 ** len(channels):
        raise ValueError(
            f"the network {name!r} with {len(channels)} convolutions takes pictures of at least "
            f"{2 ** len(channels)} x {2 ** len(channels)} pixels, got inputs of shape {input_shape}; use `mlp`"
        )
    size = 5 if name == "lenet" else 3
    return Convolutional(input_shape, tuple(channels), hidden, outputs, size, activation, key=key)


def _dense(fan_in: int, fan_out: int, *, key: PRNGKey) -> eqx.nn.Linear:
    return rescaled(eqx.nn.Linear(fan_in, fan_out, key=key), fan_in, key)


def rescaled(layer: Any, fan_in: int, key: PRNGKey) -> Any:
    """He's initial weights, N(0, 2 / fan_in), and no bias: what the default prior expects."""
    weight = (2 / fan_in) ** 0.5 * jax.random.normal(key, layer.weight.shape)
    return eqx.tree_at(lambda each: (each.weight, each.bias), layer, (weight, jnp.zeros_like(layer.bias)))


def _halved(x: Array) -> Array:
    """2 x 2 maxima, by reshape: XLA's reduce_window is slow on a CPU. An odd last row or column is dropped."""
    channels, height, width = x.shape
    x = x[:, : height // 2 * 2, : width // 2 * 2]
    return jnp.max(x.reshape(channels, height // 2, 2, width // 2, 2), axis=(2, 4))
