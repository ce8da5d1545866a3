"""0 or 1: log p(y | l) = y log sigmoid(l) + (1 - y) log sigmoid(-l).

    Var[y] = sigmoid(l) sigmoid(-l)        H[y] = softplus(-|l|) + |l| sigmoid(-|l|)

The entropy is written in |l| because l sigmoid(l) - softplus(l) cancels where the model is certain.
"""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from plait._random import check_key
from plait._typing import Array, PRNGKey
from plait.likelihood.base import (
    Likelihood,
    Numbers,
    Task,
    align,
    check_numeric,
    check_same_shape,
    diagonal_root,
    refuse,
    sum_event,
    wide,
)

NEEDS = "one logit for each target: outputs and y of the same shape, y 0 or 1"


class Bernoulli(Likelihood):
    """Independent binary targets; the outputs are logits."""

    task: ClassVar[Task] = "binary"

    def log_prob(self, outputs: Numbers, y: Numbers) -> Array:
        logits = wide(outputs)
        targets = align(self, logits, y, outputs=outputs, needs=NEEDS).astype(logits.dtype)
        terms = targets * jax.nn.log_sigmoid(logits) + (1 - targets) * jax.nn.log_sigmoid(-logits)
        return sum_event(terms, y)

    def sample(self, key: PRNGKey, outputs: Numbers) -> Array:
        check_key(key)
        probs = self.mean(outputs)
        return jax.random.bernoulli(key, probs).astype(probs.dtype)

    def mean(self, outputs: Numbers) -> Array:
        return jax.nn.sigmoid(wide(outputs))

    def variance(self, outputs: Numbers) -> Array:
        logits = wide(outputs)
        return jax.nn.sigmoid(logits) * jax.nn.sigmoid(-logits)

    def entropy(self, outputs: Numbers) -> Array:
        size = jnp.abs(wide(outputs))
        # An infinite logit is certainty: inf * sigmoid(-inf) is 0, not nan.
        certain = jnp.isinf(size)
        return jax.nn.softplus(-size) + jnp.where(certain, 0, size) * jax.nn.sigmoid(-size)

    def fisher_root(self, outputs: Numbers) -> Array:
        return (
            super().fisher_root(outputs) if jnp.ndim(outputs) != 2 else diagonal_root(jnp.sqrt(self.variance(outputs)))
        )

    def num_outputs(self, size: int) -> int:
        return size

    def check(self, output_shape: tuple[int, ...], y_shape: tuple[int, ...], y_dtype: Any) -> None:
        check_same_shape(self, output_shape, output_shape, y_shape, NEEDS)
        check_numeric(self, y_dtype, NEEDS)

    def check_targets(self, y: Any, output_shape: tuple[int, ...]) -> None:
        del output_shape
        values = np.asarray(y)
        refuse((values != 0) & (values != 1), values, self, "neither 0 nor 1", "binarise the targets first")
