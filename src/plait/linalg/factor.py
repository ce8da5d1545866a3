"""The square root A of a covariance U = A A^T, by structure.

A covariance factor is the only thing a Kronecker-structured posterior asks of its row or column side. A new structure
is one file with one subclass.
"""

from abc import abstractmethod
from typing import ClassVar

import equinox as eqx

from plait._typing import Array, Scalar


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

    @property
    @abstractmethod
    def num_params(self) -> int:
        """Trained numbers."""

    def covariance(self) -> Array:
        """U = A A^T, dense."""
        root = self.matrix()
        return root @ root.T
