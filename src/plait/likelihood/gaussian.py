"""Real targets: log p(y | m, s) = -(y - m)^2 / (2 s^2) - log s - 1/2 log 2 pi.

The noise s is given, trained as one number (or one for each output), or predicted by the network: then its outputs are
[means, log s] side by side on the last axis.
"""

import math
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._random import check_key, normal
from plait._typing import Array, PRNGKey
from plait.likelihood.base import (
    Likelihood,
    Numbers,
    Task,
    align,
    check_numeric,
    check_same_shape,
    diagonal_root,
    sum_event,
    wide,
)

HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)
NEEDS = "outputs and y of the same shape"
NEEDS_BOTH = "outputs [N, 2 d] (means, then log scales) for y [N, d]"


class Gaussian(Likelihood):
    """Independent Gaussian noise of standard deviation `scale`: a number, "learned" or "predicted".

    `initial` is where a learned scale starts; `shape=(d,)` learns one for each of d outputs. `min_scale` is added to a
    learned or predicted scale, for data that a network can fit without any residual.
    """

    task: ClassVar[Task] = "regression"

    noise: Literal["fixed", "learned", "predicted"] = eqx.field(static=True)
    fixed_scale: Any
    """The given scale, or None."""
    log_scale: Array | None
    """The trained log scale, or None."""
    min_scale: float = eqx.field(static=True)

    def __init__(self, scale: Any = 1.0, *, initial: float = 1.0, shape: tuple[int, ...] = (), min_scale: float = 0.0):
        if isinstance(scale, str) and scale not in ("learned", "predicted"):
            raise ValueError(f"Gaussian: `scale` must be a positive number, 'learned' or 'predicted', got {scale!r}")
        for name, value in (("scale", scale), ("initial", initial)):
            if isinstance(value, (int, float)) and not 0 < value < math.inf:
                raise ValueError(f"Gaussian: `{name}` is a standard deviation and must be positive, got {value!r}")
        if not 0 <= min_scale < initial:
            raise ValueError(f"Gaussian: `min_scale` must be at least 0 and below {initial:g}, got {min_scale!r}")
        self.noise, self.fixed_scale, self.log_scale, self.min_scale = "fixed", scale, None, 0.0
        if isinstance(scale, str):
            self.noise = "learned" if scale == "learned" else "predicted"
            self.fixed_scale, self.min_scale = None, float(min_scale)
        if self.noise == "learned":
            self.log_scale = jnp.full(shape, math.log(initial - min_scale))

    def split(self, outputs: Numbers) -> tuple[Array, Array]:
        """(mean, log scale) of the outputs, of one shape."""
        values = wide(outputs)
        if self.noise == "predicted":
            if values.ndim == 0 or values.shape[-1] % 2:
                raise ValueError(f"Gaussian('predicted') needs {NEEDS_BOTH}, got outputs of shape {values.shape}")
            mean, raw = jnp.split(values, 2, axis=-1)
        else:
            mean, raw = values, self._own_log_scale().astype(values.dtype)
            if mean.shape[mean.ndim - raw.ndim :] != raw.shape:
                raise ValueError(
                    f"Gaussian has scales of shape {raw.shape}, one for each output, got outputs of shape {mean.shape}"
                )
            raw = jnp.broadcast_to(raw, mean.shape)
        # log(exp(raw) + min_scale), a floor that still lets the gradient through.
        return mean, jnp.logaddexp(raw, math.log(self.min_scale)) if self.min_scale else raw

    def _own_log_scale(self) -> Array:
        if self.log_scale is not None:
            return self.log_scale
        # A given scale is data even if it is an array: no gradient reaches it.
        return jnp.log(jax.lax.stop_gradient(jnp.asarray(self.fixed_scale, float)))

    def scale(self, outputs: Numbers) -> Array:
        """The standard deviation of the noise, for each entry of `mean`."""
        return jnp.exp(self.split(outputs)[1])

    def log_prob(self, outputs: Numbers, y: Numbers) -> Array:
        mean, log_scale = self.split(outputs)
        needs = NEEDS_BOTH if self.noise == "predicted" else NEEDS
        targets = align(self, mean, y, outputs=outputs, needs=needs).astype(mean.dtype)
        standardised = (targets - mean) * jnp.exp(-log_scale)
        return sum_event(-0.5 * jnp.square(standardised) - log_scale - HALF_LOG_2_PI, y)

    def sample(self, key: PRNGKey, outputs: Numbers) -> Array:
        check_key(key)
        mean, log_scale = self.split(outputs)
        return mean + jnp.exp(log_scale) * normal(key, mean.shape, mean.dtype)

    def mean(self, outputs: Numbers) -> Array:
        return self.split(outputs)[0]

    def variance(self, outputs: Numbers) -> Array:
        return jnp.exp(2 * self.split(outputs)[1])

    def fisher_root(self, outputs: Numbers) -> Array:
        if jnp.ndim(outputs) != 2 or self.noise == "predicted":
            return super().fisher_root(outputs)
        return diagonal_root(1 / self.scale(outputs))

    def updated(
        self, outputs: Numbers, y: Numbers, *, dataset_size: int, kl_weight: Any = 1.0, rate: Any = 1.0
    ) -> Likelihood:
        if self.log_scale is None:
            return self
        # The mean squared residual is the best variance, whatever the KL weighs.
        mean = wide(outputs)
        squares = jnp.square(align(self, mean, y, outputs=outputs, needs=NEEDS).astype(mean.dtype) - mean)
        best = jnp.mean(squares, axis=tuple(range(squares.ndim - self.log_scale.ndim)))
        scale = jnp.exp(self.log_scale) + self.min_scale
        moved = jnp.sqrt((1 - rate) * jnp.square(scale) + rate * best)
        floor = jnp.finfo(moved.dtype).tiny
        log_scale = jnp.log(jnp.maximum(moved - self.min_scale, floor)).astype(self.log_scale.dtype)
        return eqx.tree_at(lambda own: own.log_scale, self, log_scale)

    def num_outputs(self, size: int) -> int:
        return 2 * size if self.noise == "predicted" else size

    def check(self, output_shape: tuple[int, ...], y_shape: tuple[int, ...], y_dtype: Any) -> None:
        if self.noise != "predicted":
            check_same_shape(self, output_shape, output_shape, y_shape, NEEDS)
        elif len(output_shape) < 2 or output_shape[-1] % 2:
            raise ValueError(
                f"Gaussian('predicted') needs {NEEDS_BOTH}, got outputs {output_shape}; double the last layer's outputs"
            )
        else:
            expected = (*output_shape[:-1], output_shape[-1] // 2)
            check_same_shape(self, expected, output_shape, y_shape, NEEDS_BOTH)
        check_numeric(self, y_dtype, "real numbers as y")

    @property
    def num_params(self) -> int:
        return 0 if self.log_scale is None else self.log_scale.size
