"""U = diag(exp(2 l)): independent entries with log standard deviations l."""

import math
from typing import ClassVar

import jax.numpy as jnp
import numpy as np

from plait._typing import Array, Float, Scalar
from plait.linalg.factor import Factor
from plait.linalg.stable import scale_last


class DiagonalFactor(Factor):
    """A = diag(exp(l))."""

    log_scale: Float[Array, " n"]

    is_diagonal: ClassVar[bool] = True

    @classmethod
    def isotropic(cls, size: int, scale: float, dtype) -> "DiagonalFactor":
        return cls(jnp.full((size,), math.log(scale), dtype))

    @property
    def size(self) -> int:
        return self.log_scale.shape[-1]

    def matrix(self) -> Array:
        return jnp.diag(jnp.exp(self.log_scale))

    def times(self, vectors: Array) -> Array:
        return scale_last(vectors, jnp.exp(self.log_scale))

    def solve(self, vectors: Array) -> Array:
        return scale_last(vectors, jnp.exp(-self.log_scale))

    def log_det(self) -> Scalar:
        return jnp.sum(self.log_scale)

    def diagonal(self) -> Array:
        return jnp.exp(2 * self.log_scale)

    def log_conditional_scales(self) -> Array:
        return self.log_scale

    def restricted(self, index: np.ndarray) -> Factor:
        return DiagonalFactor(self.log_scale[index])

    @property
    def num_params(self) -> int:
        return self.size
