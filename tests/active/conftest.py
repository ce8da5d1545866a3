"""Linear regression with its exact posterior: what a label tells is known in closed form."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.linalg.cholesky import CholeskyFactor

NOISE, SIZE = 0.3, 40


def forward(weight: jax.Array, x: jax.Array) -> jax.Array:
    return x @ weight


def exact_model(x: Any, y: Any, *, key: jax.Array) -> plait.BayesianModel:
    """w ~ N(0, 1), y = x w + noise, after some data."""
    x, y = jnp.asarray(x), jnp.asarray(y)
    covariance = jnp.linalg.inv(x.T @ x / NOISE**2 + jnp.eye(x.shape[1]))
    mean = covariance @ (x.T @ y) / NOISE**2
    bnn = plait.bayesianize(mean, x[:1], apply=forward, posterior=plait.FullCovariance(), prior=plait.Normal(), key=key)
    root = CholeskyFactor.from_matrix(jnp.linalg.cholesky(covariance))
    posteriors = {path: replace(posterior, root=root) for path, posterior in bnn.posteriors.items()}
    return replace(bnn, posteriors=posteriors, likelihood=plait.Gaussian(NOISE))


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray]:
    """A pool in three dimensions with one input far out, and its labels."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(SIZE, 3)).astype(np.float32)
    x[17] *= 10
    return x, x @ np.ones((3, 1), np.float32) + NOISE * rng.normal(size=(SIZE, 1)).astype(np.float32)


@pytest.fixture
def train() -> Any:
    return exact_model
