"""Counts: log p(y | s) = y s - exp(s) - log y!, s the log rate. Mean and variance are exp(s)."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln

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

NEEDS = "one log rate for each target: outputs and y of the same shape, y counts"


class Poisson(Likelihood):
    """Independent counts; the outputs are log rates."""

    task: ClassVar[Task] = "counts"

    def log_prob(self, outputs: Numbers, y: Numbers) -> Array:
        log_rate = wide(outputs)
        counts = align(self, log_rate, y, outputs=outputs, needs=NEEDS).astype(log_rate.dtype)
        # A rate of 0 makes the count 0 certain: 0 * -inf is 0, not nan.
        weighted = counts * jnp.where(counts == 0, 0, log_rate)
        return sum_event(weighted - jnp.exp(log_rate) - gammaln(counts + 1), y)

    def sample(self, key: PRNGKey, outputs: Numbers) -> Array:
        check_key(key)
        return jax.random.poisson(key, self.mean(outputs))

    def mean(self, outputs: Numbers) -> Array:
        return jnp.exp(wide(outputs))

    def variance(self, outputs: Numbers) -> Array:
        return self.mean(outputs)

    def fisher_root(self, outputs: Numbers) -> Array:
        return super().fisher_root(outputs) if jnp.ndim(outputs) != 2 else diagonal_root(jnp.sqrt(self.mean(outputs)))

    def num_outputs(self, size: int) -> int:
        return size

    def check(self, output_shape: tuple[int, ...], y_shape: tuple[int, ...], y_dtype: Any) -> None:
        check_same_shape(self, output_shape, output_shape, y_shape, NEEDS)
        check_numeric(self, y_dtype, NEEDS)

    def check_targets(self, y: Any, output_shape: tuple[int, ...]) -> None:
        super().check_targets(y, output_shape)
        values = np.asarray(y)
        refuse((values < 0) | (values != np.floor(values)), values, self, "not a count", "use 0, 1, 2, ...")
