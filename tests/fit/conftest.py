"""A regression that compiles quickly, and the pieces of `plait.fit` calls that tests share."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait

EXAMPLES, BATCH = 40, 8
# One object, so that calls with the same shapes share one compiled program.
ADAM = optax.adam(0.01)
NOISE = plait.Gaussian(0.3)


def forward(weights: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ weights["first"]) @ weights["last"]


def make_model(key: jax.Array, *, prior: Any = 1.0, posterior: plait.Family | None = None) -> plait.BayesianModel:
    first, last, noise = jax.random.split(key, 3)
    weights = {"first": jax.random.normal(first, (3, 4)), "last": 0.5 * jax.random.normal(last, (4, 1))}
    family = plait.MeanField(0.1) if posterior is None else posterior
    return plait.bayesianize(
        weights, jnp.zeros((2, 3)), apply=forward, posterior=family, prior=plait.Normal(prior), key=noise
    )


def make_data(examples: int = EXAMPLES, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(examples, 3)).astype(np.float32)
    return x, np.sin(x[:, :1]) + 0.3 * rng.normal(size=(examples, 1)).astype(np.float32)


@dataclass(frozen=True)
class Problem:
    """A model and data, and `fit` with what all tests have in common."""

    bnn: plait.BayesianModel
    data: tuple[np.ndarray, np.ndarray]
    examples = EXAMPLES
    batch_size = BATCH
    adam = ADAM
    noise = NOISE
    make_model = staticmethod(make_model)
    make_data = staticmethod(make_data)

    def fit(self, **options: Any) -> plait.Fit:
        given: dict[str, Any] = {
            "bnn": self.bnn,
            "data": self.data,
            "likelihood": NOISE,
            "optimizer": ADAM,
            "batch_size": BATCH,
            "key": jax.random.key(7),
        } | options
        if "epochs" not in given and "steps" not in given:
            given["epochs"] = 4
        return plait.fit(given.pop("bnn"), given.pop("data"), **given)

    @staticmethod
    def assert_equal(ours: Any, theirs: Any, tolerance: float = 0.0) -> None:
        """Models, or other trees, bit for bit or up to a tolerance."""
        for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.fixture(scope="session")
def problem() -> Problem:
    return Problem(make_model(jax.random.key(1)), make_data())
