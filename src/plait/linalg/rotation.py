"""An orthogonal matrix Q, Q^T Q = I: the axes along which a covariance is diagonal.

It comes out of an eigendecomposition and is not trained by gradients, which would not keep it orthogonal.
"""

import equinox as eqx
import jax.numpy as jnp

from plait._typing import Array, Float


class Rotation(eqx.Module):
    """Q, eigenvectors in its columns."""

    matrix: Float[Array, "n n"]

    @classmethod
    def identity(cls, size: int, dtype) -> "Rotation":
        return cls(jnp.eye(size, dtype=dtype))

    @property
    def size(self) -> int:
        return self.matrix.shape[-1]
