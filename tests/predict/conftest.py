"""Models whose predictions are known or cheap."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait


def linear_model(key: jax.Array, outputs: int, family: plait.Family, **options: Any) -> plait.BayesianModel:
    """y = x W, its posterior moved away from its symmetric start."""
    weight, moved = jax.random.split(key)
    bnn = plait.bayesianize(
        jax.random.normal(weight, (3, outputs)),
        jnp.ones((2, 3)),
        apply=lambda w, x: x @ w,
        posterior=family,
        prior=plait.Normal(1.0),
        key=key,
        **options,
    )
    leaves, structure = jax.tree.flatten(bnn.posteriors)
    keys = jax.random.split(moved, len(leaves))
    spread = [leaf + 0.2 * jax.random.normal(k, leaf.shape) for k, leaf in zip(keys, leaves, strict=True)]
    return eqx.tree_at(lambda b: b.posteriors, bnn, jax.tree.unflatten(structure, spread))


@pytest.fixture
def linear():
    return linear_model


@pytest.fixture
def regression(key) -> plait.BayesianModel:
    """One draw of weights for all examples."""
    return linear_model(key, 2, plait.FullCovariance(0.3)).with_likelihood(plait.Gaussian(0.5))


@pytest.fixture
def classes(key) -> plait.BayesianModel:
    """One draw of weights for all examples, and enough of it to disagree."""
    bnn = linear_model(key, 4, plait.MeanField(1.0), estimator="weights")
    return bnn.with_likelihood(plait.Categorical())


@pytest.fixture
def network(key) -> plait.BayesianModel:
    """A network with noise of its own for each example."""
    model = eqx.nn.MLP(3, 4, 8, 1, key=key)
    return plait.bayesianize(model, jnp.ones((2, 3)), posterior=plait.Tied(2, 0.3), key=key).with_likelihood(
        plait.Categorical()
    )


@pytest.fixture
def x(seed) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(11, 3)).astype(np.float32)


@pytest.fixture
def labels(seed) -> np.ndarray:
    return np.random.default_rng(seed + 1).integers(0, 4, 11)


@pytest.fixture
def y(seed) -> np.ndarray:
    return np.random.default_rng(seed + 1).normal(size=(11, 2)).astype(np.float32)
