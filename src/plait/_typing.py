"""Names for the array types that signatures use."""

from typing import TypeAlias

from jaxtyping import Array, Float, Inexact, Key, PyTree
from numpy import typing as npt

Scalar: TypeAlias = Float[Array, ""]
Weight: TypeAlias = Inexact[Array, "..."]
PRNGKey: TypeAlias = Key[Array, ""]
"""One typed key of `jax.random.key`."""
ArrayLike: TypeAlias = npt.ArrayLike | float
"""What NumPy can read; its own alias names `complex` alone, which a check at run time takes at its word."""

__all__ = ["Array", "ArrayLike", "Float", "Inexact", "PRNGKey", "PyTree", "Scalar", "Weight"]
