"""Names for the array types that signatures use."""

from typing import TypeAlias

from jaxtyping import Array, Float, Inexact, Key, PyTree

Scalar: TypeAlias = Float[Array, ""]
Weight: TypeAlias = Inexact[Array, "..."]
PRNGKey: TypeAlias = Key[Array, ""]
"""One typed key of `jax.random.key`."""

__all__ = ["Array", "Float", "Inexact", "PRNGKey", "PyTree", "Scalar", "Weight"]
