"""A small mean-field model with matrices, a convolution and a bias, and standard deviations of any kind in it."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait


def forward(weights: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    x = jax.lax.conv_general_dilated(x, weights["conv"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x = jnp.mean(jnp.tanh(x), axis=(1, 2))
    return jnp.tanh(x @ weights["first"]) @ weights["last"] + weights["bias"][None]


SHAPES = {"conv": (3, 3, 2, 8), "first": (8, 10), "last": (10, 6), "bias": (6,)}


def build(posterior: Any = None, *, prior: Any = None) -> plait.BayesianModel:
    key = jax.random.key(0)
    weights = {
        name: 0.3 * jax.random.normal(jax.random.fold_in(key, i), shape)
        for i, (name, shape) in enumerate(SHAPES.items())
    }
    family = plait.MeanField(0.1, init_spread=0.3) if posterior is None else posterior
    given = plait.Normal(0.5) if prior is None else prior
    return plait.bayesianize(weights, jnp.zeros((2, 4, 4, 2)), apply=forward, posterior=family, prior=given, key=key)


def with_stds(bnn: plait.BayesianModel, path: str, matrix: np.ndarray) -> plait.BayesianModel:
    """Standard deviations given as a matrix [fan_in, fan_out]."""
    posterior = bnn.posteriors[path]
    std = posterior.layout.from_matrix(jnp.asarray(matrix, jnp.float32))
    return eqx.tree_at(lambda b: b.posteriors[path], bnn, posterior.with_std(std))


def positive_of_rank(rank: int, fan_in: int, fan_out: int, seed: int, spread: float = 0.7) -> np.ndarray:
    """A product of positive factors, about 0.1 in size."""
    rng = np.random.default_rng(seed)
    rows, columns = np.exp(spread * rng.normal(size=(rank, fan_in))), np.exp(spread * rng.normal(size=(rank, fan_out)))
    return 0.1 / rank * rows.T @ columns


class Tools:
    build = staticmethod(build)
    with_stds = staticmethod(with_stds)
    positive_of_rank = staticmethod(positive_of_rank)


@pytest.fixture(scope="session")
def tools() -> Tools:
    return Tools()


@pytest.fixture(scope="session")
def bnn() -> plait.BayesianModel:
    return build()
