"""U = A A^T with A lower triangular and positive diagonal exp(l) (paper 002, section 3.1).

Stored packed: n (n + 1) / 2 numbers, the logarithms of the diagonal in the diagonal's place.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, Float, Scalar
from plait.linalg.factor import Factor
from plait.linalg.triangular import lower_root, pack_lower, packed_shape, unpack_lower


class CholeskyFactor(Factor):
    """A = strictly lower triangle + diag(exp(l))."""

    packed: Float[Array, "long short"]
    dimension: int = eqx.field(static=True)

    @classmethod
    def isotropic(cls, size: int, scale: float, dtype) -> "CholeskyFactor":
        log_diagonal = jnp.full((size,), math.log(scale), dtype)
        return cls(pack_lower(jnp.diag(log_diagonal)), size)

    @classmethod
    def from_matrix(cls, lower: Array) -> "CholeskyFactor":
        """The factor whose A is the given lower-triangular matrix with positive diagonal."""
        log_diagonal = jnp.log(jnp.diagonal(lower))
        return cls(pack_lower(jnp.tril(lower, -1) + jnp.diag(log_diagonal)), lower.shape[0])

    def __check_init__(self):
        if self.packed.shape != packed_shape(self.dimension):
            raise ValueError(
                f"a packed triangle of size {self.dimension} has shape {packed_shape(self.dimension)}, "
                f"got {self.packed.shape}; build it with `CholeskyFactor.from_matrix`"
            )

    @property
    def size(self) -> int:
        return self.dimension

    def _log_diagonal(self) -> Array:
        return jnp.diagonal(unpack_lower(self.packed, self.dimension))

    def matrix(self) -> Array:
        lower = unpack_lower(self.packed, self.dimension)
        eye = jnp.eye(self.dimension, dtype=bool)
        # The exponential sees only the diagonal: a large entry below it must not overflow on the way to being masked.
        return jnp.where(eye, jnp.exp(jnp.where(eye, lower, 0)), lower)

    def times(self, vectors: Array) -> Array:
        return vectors @ self.matrix().T

    def solve(self, vectors: Array) -> Array:
        flat = vectors.reshape(-1, self.dimension)
        return jax.scipy.linalg.solve_triangular(self.matrix(), flat.T, lower=True).T.reshape(vectors.shape)

    def log_det(self) -> Scalar:
        return jnp.sum(self._log_diagonal())

    def log_conditional_scales(self) -> Array:
        return self._log_diagonal()

    def diagonal(self) -> Array:
        return jnp.sum(jnp.square(self.matrix()), axis=1)

    def restricted(self, index: np.ndarray) -> "CholeskyFactor":
        return CholeskyFactor.from_matrix(lower_root(self.matrix()[index]))

    @property
    def num_params(self) -> int:
        return self.dimension * (self.dimension + 1) // 2
