"""U = P diag(exp(2 l)) P^T with P = prod_k (I - 2 v_k v_k^T / |v_k|^2), h reflections (MATH 4.5; Sun et al. 2017).

n (h + 1) numbers instead of n (n + 1) / 2, and no triangular solve: P^-1 = P^T.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, Float, Scalar
from plait.linalg.cholesky import CholeskyFactor
from plait.linalg.factor import Factor
from plait.linalg.stable import scale_last
from plait.linalg.triangular import lower_root


class HouseholderFactor(Factor):
    """A = P diag(exp(l))."""

    log_scale: Float[Array, " n"]
    reflections: Float[Array, "h n"]

    @classmethod
    def isotropic(cls, size: int, scale: float, dtype, reflections: int = 2) -> "HouseholderFactor":
        # Equal scales make P invisible, and equal vectors would cancel in pairs and then move together for ever:
        # start from distinct, well spread directions.
        phase = jnp.outer(jnp.arange(1, reflections + 1), jnp.arange(1, size + 1)).astype(dtype)
        return cls(jnp.full((size,), math.log(scale), dtype), jnp.cos(1.7 * phase))

    @property
    def size(self) -> int:
        return self.log_scale.shape[-1]

    def _unit(self) -> Array:
        # Only directions count: scaled to entries of at most one, their squares neither overflow nor vanish.
        largest = jax.lax.stop_gradient(jnp.max(jnp.abs(self.reflections), axis=-1, keepdims=True))
        scaled = self.reflections / jnp.where(largest > 0, largest, 1)
        squares = jnp.sum(jnp.square(scaled), axis=-1, keepdims=True)
        return scaled * jax.lax.rsqrt(jnp.where(squares > 0, squares, 1))

    def _reflect(self, vectors: Array, *, transpose: bool) -> Array:
        units = self._unit()
        order = range(units.shape[0]) if transpose else reversed(range(units.shape[0]))
        for index in order:
            vectors = vectors - scale_last(2 * (vectors @ units[index])[..., None], units[index])
        return vectors

    def matrix(self) -> Array:
        return self.times(jnp.eye(self.size, dtype=self.log_scale.dtype)).T

    def times(self, vectors: Array) -> Array:
        return self._reflect(scale_last(vectors, jnp.exp(self.log_scale)), transpose=False)

    def solve(self, vectors: Array) -> Array:
        return scale_last(self._reflect(vectors, transpose=True), jnp.exp(-self.log_scale))

    def log_det(self) -> Scalar:
        return jnp.sum(self.log_scale)

    def diagonal(self) -> Array:
        return jnp.sum(jnp.square(self.matrix()), axis=1)

    def restricted(self, index: np.ndarray) -> CholeskyFactor:
        # Some rows of a rotation are no product of reflections.
        return CholeskyFactor.from_matrix(lower_root(self.matrix()[index]))

    @property
    def num_params(self) -> int:
        return self.log_scale.size + self.reflections.size
