"""Inputs cut into batches of one shape: the last one repeats its last example, and the surplus is dropped again."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._compat import is_key
from plait._typing import PyTree
from plait.model.bayesian_model import batch_size as first_axis


def count_examples(inputs: tuple[Any, ...]) -> int:
    """The number of examples; refuses none, and arrays that disagree."""
    size = first_axis(inputs[0])
    if size == 0:
        raise ValueError("there is nothing to predict: `x` has no examples")
    for leaf in jax.tree.leaves(inputs, is_leaf=_is_shared):
        if _runs_over_examples(leaf) and leaf.shape[0] != size:
            raise ValueError(
                f"every input must have the {size} examples of `x` on its first axis, got an array of shape "
                f"{leaf.shape}; what all examples share belongs into the model or into `apply`"
            )
    return size


def rows_of(batch: int, batch_size: int, num_examples: int) -> np.ndarray:
    """The indices of the examples in a batch."""
    return np.minimum(np.arange(batch * batch_size, (batch + 1) * batch_size), num_examples - 1)


def take(inputs: PyTree, rows: np.ndarray) -> PyTree:
    """Some examples of every array that runs over examples, the rest as it is."""

    def one(leaf: Any) -> Any:
        return jnp.asarray(leaf[rows]) if _runs_over_examples(leaf) else leaf

    return jax.tree.map(one, inputs, is_leaf=_is_shared)


def _is_shared(leaf: Any) -> bool:
    return isinstance(leaf, eqx.nn.State) or is_key(leaf)


def _runs_over_examples(leaf: Any) -> bool:
    is_array = eqx.is_array(leaf) or isinstance(leaf, np.ndarray)
    return is_array and not _is_shared(leaf) and leaf.ndim > 0
