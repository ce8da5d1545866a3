"""Small models and data that the tests of the natural-gradient methods share."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import plait

METHODS: dict[str, Any] = {
    "adam": plait.NoisyAdam(statistics_every=2),
    "tied": plait.NoisyTied(rank=2, statistics_every=2),
    "ivon": plait.IVON(),
    "kfac": plait.NoisyKFAC(statistics_every=2, inverse_every=3),
    "kfac-exact": plait.NoisyKFAC(sampler="exact", statistics_every=2, inverse_every=3),
    "ekfac": plait.NoisyEKFAC(statistics_every=1, inverse_every=3),
    "block-tridiagonal": plait.NoisyBlockTridiagonal(statistics_every=2, inverse_every=3),
    "full": plait.NoisyFull(),
}


def forward(weights: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    hidden = jnp.tanh(x @ weights["w1"] + weights["b1"][None])
    return hidden @ weights["w2"] + weights["b2"][None]


def make_model(key: jax.Array, **options: Any) -> plait.BayesianModel:
    shapes = {"w1": (3, 4), "b1": (4,), "w2": (4, 1), "b2": (1,)}
    keys = jax.random.split(key, len(shapes))
    weights = {path: 0.5 * jax.random.normal(k, s) for k, (path, s) in zip(keys, shapes.items(), strict=True)}
    given: dict[str, Any] = {"posterior": plait.MeanField(0.1), "prior": plait.Normal(1.0)} | options
    return plait.bayesianize(weights, jnp.zeros((2, 3)), apply=forward, key=key, **given)


def make_data(key: jax.Array, size: int = 24) -> tuple[jax.Array, jax.Array]:
    x_key, noise_key = jax.random.split(key)
    x = jax.random.normal(x_key, (size, 3))
    return x, jnp.sin(x[:, :1]) + 0.1 * jax.random.normal(noise_key, (size, 1))


@pytest.fixture
def model(key: jax.Array) -> plait.BayesianModel:
    return make_model(key)


@pytest.fixture
def data(key: jax.Array) -> tuple[jax.Array, jax.Array]:
    return make_data(key)


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> Any:
    return METHODS[request.param]


@pytest.fixture
def make() -> Any:
    return make_model
