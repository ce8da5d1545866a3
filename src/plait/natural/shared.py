"""A branch that stays a branch when several models are trained side by side.

Under `jax.vmap` a `lax.cond` on a batched predicate runs both branches, so that every step would pay for decompositions
that are due every hundredth. Models that are trained together count alike: their predicate is one.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from plait._typing import Array


@jax.custom_batching.custom_vmap
def _shared(predicate: Array) -> Array:
    return predicate


@_shared.def_vmap
def _any(axis_size: int, in_batched: list[bool], predicate: Array) -> tuple[Array, bool]:
    del axis_size, in_batched
    return _shared(jnp.any(predicate)), False


def every(count: Array, interval: int, run: Callable[[Any], Any], value: Any) -> Any:
    """`run(value)` at the counts that `interval` divides, else the value as it is; for all mapped models at once."""
    if interval == 1:
        return run(value)
    return jax.lax.cond(_shared(count % interval == 0), run, lambda kept: kept, value)
