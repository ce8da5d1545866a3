"""The square root A of a covariance U = A A^T, by structure.

A covariance factor is the only thing a Kronecker-structured posterior asks of its row or column side. A new structure
is one file with one subclass.
"""

from abc import abstractmethod
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, Scalar
from plait.linalg.triangular import lower_root


class Factor(eqx.Module):
    """A square root A (n x n) of a covariance U = A A^T."""

    is_diagonal: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def isotropic(cls, size: int, scale: float, dtype) -> "Factor":
        """A start with U = scale^2 I."""

    @property
    @abstractmethod
    def size(self) -> int:
        """n."""

    @abstractmethod
    def matrix(self) -> Array:
        """A, dense."""

    @abstractmethod
    def times(self, vectors: Array) -> Array:
        """A v for vectors v on the last axis."""

    @abstractmethod
    def solve(self, vectors: Array) -> Array:
        """A^-1 v for vectors v on the last axis."""

    @abstractmethod
    def log_det(self) -> Scalar:
        """log |det A| = 1/2 log det U."""

    @abstractmethod
    def diagonal(self) -> Array:
        """diag(A A^T), without forming A A^T."""

    def log_conditional_scales(self) -> Array:
        """Logarithms of the standard deviations of each entry given those before it: diag(L), U = L L^T triangular."""
        return jnp.log(jnp.diagonal(lower_root(self.matrix())))

    @abstractmethod
    def restricted(self, index: np.ndarray) -> "Factor":
        """A root of the covariance of some entries, U[index, index]."""

    @property
    @abstractmethod
    def num_params(self) -> int:
        """Trained numbers."""

    def covariance(self) -> Array:
        """U = A A^T, dense."""
        root = self.matrix()
        return root @ root.T
