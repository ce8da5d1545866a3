"""U = diag(exp(2 l)): independent entries with log standard deviations l."""

from typing import ClassVar, Self

import jax.numpy as jnp

from plait._typing import Array, Float, Scalar
from plait.linalg.factor import Factor


class DiagonalFactor(Factor):
    """A = diag(exp(l))."""

    log_scale: Float[Array, " n"]

    is_diagonal: ClassVar[bool] = True

    @classmethod
    def isotropic(cls, size: int, scale: float, dtype) -> Self:
        return cls(jnp.full((size,), jnp.log(scale), dtype))

    @property
    def size(self) -> int:
        return self.log_scale.shape[-1]

    def matrix(self) -> Array:
        return jnp.diag(jnp.exp(self.log_scale))

    def times(self, vectors: Array) -> Array:
        return vectors * jnp.exp(self.log_scale)

    def solve(self, vectors: Array) -> Array:
        return vectors * jnp.exp(-self.log_scale)

    def log_det(self) -> Scalar:
        return jnp.sum(self.log_scale)

    def diagonal(self) -> Array:
        return jnp.exp(2 * self.log_scale)

    @property
    def num_params(self) -> int:
        return self.size
