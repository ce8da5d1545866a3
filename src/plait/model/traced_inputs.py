"""The inputs of a model without their values, so that it can be traced again when they are gone."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np


@dataclass(frozen=True)
class TracedInputs:
    """The arguments of a forward pass: shapes and dtypes for arrays, other leaves as they are. It can be hashed."""

    leaves: tuple[Any, ...]
    structure: Any

    @staticmethod
    def of(arguments: Any) -> "TracedInputs":
        """Of `(x, args, kwargs)`."""
        leaves, structure = jax.tree.flatten(arguments)
        return TracedInputs(tuple(_shape(leaf) for leaf in leaves), structure)

    def tree(self) -> Any:
        """The arguments again, with `jax.ShapeDtypeStruct` for arrays."""
        return jax.tree.unflatten(self.structure, self.leaves)


def _shape(leaf: Any) -> Any:
    is_array = eqx.is_array(leaf) or isinstance(leaf, np.ndarray)
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) if is_array else leaf
