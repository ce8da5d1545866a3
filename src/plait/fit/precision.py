"""Half-precision compute with full-precision variational parameters.

The weights, the inputs and the buffers that enter the model are cast; posteriors stay as they are. The cast of a random
weight is carried through the trace like any layout operation, so a draw, or the noise of a pre-activation, is in half
precision while means, scales, KL and gradients' sums are not.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._compat import is_key
from plait._typing import Array, PyTree
from plait.model import BayesianModel
from plait.model.adapter import Skeleton

PRECISIONS: dict[str, Any] = {"float32": None, "bfloat16": jnp.bfloat16}
"""What to compute in, by name; None is what the model computes in by itself."""


class HalfPrecisionSkeleton(Skeleton):
    """A skeleton whose forward pass is in another floating type."""

    dtype: Any = eqx.field(static=True)

    def __call__(self, weights: dict[str, Array], *args: Any, **kwargs: Any) -> Any:
        buffers = _cast(self.buffers, self.dtype)
        inner = Skeleton(buffers, self.paths, self.static, self.structure, self.graph, self.call)
        return inner(_cast(weights, self.dtype), *_cast(args, self.dtype), **_cast(kwargs, self.dtype))


def in_precision(bnn: BayesianModel, precision: str | None) -> BayesianModel:
    """The model with its forward pass in the given precision."""
    if precision not in (None, *PRECISIONS):
        raise ValueError(
            f"`precision` must be one of {', '.join(map(repr, PRECISIONS))} or None, got {precision!r}; float16 would "
            "need its loss scaled"
        )
    dtype = None if precision is None else PRECISIONS[precision]
    if dtype is None:
        return bnn
    fields = {field.name: getattr(bnn.skeleton, field.name) for field in dataclasses.fields(Skeleton)}
    return dataclasses.replace(bnn, skeleton=HalfPrecisionSkeleton(**fields, dtype=dtype))


def _cast(tree: PyTree, dtype: Any) -> PyTree:
    def one(leaf: Any) -> Any:
        is_real = eqx.is_array(leaf) and not is_key(leaf) and jnp.issubdtype(leaf.dtype, jnp.floating)
        return leaf.astype(dtype) if is_real else leaf

    return jax.tree.map(one, tree)
