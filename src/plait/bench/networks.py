"""The networks that costs are measured on, as functions over a dictionary of parameters."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from plait._typing import Array, PRNGKey

Parameters = dict[str, Array]


@dataclass(frozen=True)
class Network:
    """A network and one batch for it."""

    name: str
    params: Parameters
    forward: Callable[[Parameters, Array], Array]
    x: Array
    y: Array


def multilayer_perceptron(key: PRNGKey, name: str, widths: tuple[int, ...], batch: int) -> Network:
    """Dense layers with ReLU between them."""
    params = _dense_layers(key, widths)
    x = jax.random.normal(key, (batch, widths[0]))
    y = jax.random.randint(key, (batch,), 0, widths[-1])
    return Network(name, params, _run_dense_layers, x, y)


def lenet(key: PRNGKey, name: str, batch: int) -> Network:
    """The network of MATH 1.2: 5x5 convolutions of 32 and 64 channels, dense layers of 512 and 100 (erratum E14)."""
    first, second, rest, data = jax.random.split(key, 4)
    params = {
        "conv0.kernel": _he(first, (5, 5, 3, 32), 75),
        "conv0.bias": jnp.zeros(32),
        "conv1.kernel": _he(second, (5, 5, 32, 64), 800),
        "conv1.bias": jnp.zeros(64),
    } | _dense_layers(rest, (4096, 512, 100))

    def forward(params: Parameters, x: Array) -> Array:
        for i in range(2):
            kernel, bias = params[f"conv{i}.kernel"], params[f"conv{i}.bias"]
            x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = _max_pool(jax.nn.relu(x + bias[None, None, None]))
        dense = {path: value for path, value in params.items() if path.startswith("dense")}
        return _run_dense_layers(dense, x.reshape(x.shape[0], -1))

    x = jax.random.normal(data, (batch, 32, 32, 3))
    return Network(name, params, forward, x, jax.random.randint(data, (batch,), 0, 100))


def _he(key: PRNGKey, shape: tuple[int, ...], fan_in: int) -> Array:
    return jax.random.normal(key, shape) * (2 / fan_in) ** 0.5


def _dense_layers(key: PRNGKey, widths: tuple[int, ...]) -> Parameters:
    params: Parameters = {}
    for i, (fan_in, fan_out) in enumerate(itertools.pairwise(widths)):
        params[f"dense{i}.kernel"] = _he(jax.random.fold_in(key, i), (fan_in, fan_out), fan_in)
        params[f"dense{i}.bias"] = jnp.zeros(fan_out)
    return params


def _run_dense_layers(params: Any, x: Array) -> Array:
    count = len(params) // 2
    for i in range(count):
        x = x @ params[f"dense{i}.kernel"] + params[f"dense{i}.bias"][None]
        x = jax.nn.relu(x) if i < count - 1 else x
    return x


def _max_pool(x: Array) -> Array:
    """2 x 2, by reshape: XLA's reduce_window is slow on a CPU."""
    n, height, width, channels = x.shape
    return jnp.max(x.reshape(n, height // 2, 2, width // 2, 2, channels), axis=(2, 4))
