"""A small model, and others that are built in other ways."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import plait


def build(
    seed: int = 0, *, size: int = 3, dtype: Any = jnp.float32, name: str = "w", **options: Any
) -> plait.BayesianModel:
    first, noise = jax.random.split(jax.random.key(seed))
    weights = {name: jax.random.normal(first, (size, 2), dtype), "steps": jnp.arange(3), "rng": jax.random.key(5)}
    given: dict[str, Any] = {"posterior": plait.Tied(1), "prior": plait.Normal(0.5)} | options
    return plait.bayesianize(
        weights, jnp.zeros((4, size), dtype), apply=lambda weights, x: x @ weights[name], key=noise, **given
    )


@pytest.fixture
def build_model() -> Callable[..., plait.BayesianModel]:
    return build
