"""Data that cannot be trained on, found before anything is compiled."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait.fit.plan import Plan
from plait.model import BayesianModel


def check_pair(data: Any, what: str, replicas: int | None) -> int:
    """The number of examples of `(x, y)`; `replicas` where each has data of its own, on a first axis."""
    if not isinstance(data, tuple) or len(data) != 2:
        raise TypeError(f"`{what}` must be a pair of arrays `(x, y)`, got {_name(data)}")
    axis = 0 if replicas is None else 1
    axes = "[examples, ...]" if replicas is None else "[replicas, examples, ...]"
    leaves = [(name, leaf) for name, part in zip("xy", data, strict=True) for leaf in jax.tree.leaves(part)]
    for name, leaf in leaves:
        if not _is_array(leaf) or leaf.ndim <= axis:
            raise TypeError(f"`{what}`: {name} must be arrays {axes}, got {_name(leaf)}")
        if replicas is not None and leaf.shape[0] != replicas:
            raise ValueError(f"`{what}`: {name} must have a first axis over {replicas} replicas, got {leaf.shape}")
    if not jax.tree.leaves(data[0]) or not jax.tree.leaves(data[1]):
        raise TypeError(f"`{what}`: x and y must both be there, got no arrays in one of them")
    sizes = {leaf.shape[axis] for _, leaf in leaves}
    if len(sizes) > 1:
        shapes = ", ".join(f"{name} {leaf.shape}" for name, leaf in leaves)
        raise ValueError(f"`{what}`: x and y must have as many examples as each other, got {shapes}")
    if sizes == {0}:
        raise ValueError(f"`{what}` has no examples")
    for name, leaf in leaves:
        _check_finite(leaf, f"`{what}`: {name}")
    return sizes.pop()


def check_targets(bnn: BayesianModel, data: Any, what: str, plan: Plan, output: Any) -> None:
    """Refuse targets that do not go with the model's outputs. The model is one of the replicas."""
    x, y = data
    if plan.replicas is not None and plan.data_per_replica:
        x = jax.tree.map(lambda leaf: leaf[0], x)
        y = y.reshape(-1, *y.shape[2:])
    if not _is_array(y):
        raise TypeError(f"`{what}`: y must be one array, got {_name(y)}")
    first = jax.tree.map(lambda leaf: jnp.asarray(leaf[:1]), x)
    inputs = first if isinstance(first, tuple) else (first,)
    outputs = eqx.filter_eval_shape(lambda bnn, inputs: output(bnn(*inputs, key=None)), bnn, inputs)
    if not isinstance(outputs, jax.ShapeDtypeStruct):
        raise TypeError(
            f"the model returns {_name(outputs)}, not one array: say which is the likelihood's input by "
            "`output=lambda outputs: ...`"
        )
    shape = outputs.shape[bnn.components is not None :]
    assert bnn.likelihood is not None
    bnn.likelihood.check(shape, (shape[0], *y.shape[1:]), y.dtype)
    bnn.likelihood.check_targets(np.asarray(y), shape)


def check_batch(batch: Any, data_per_replica: bool) -> None:
    """Refuse a batch of an iterator that has the wrong form."""
    if not isinstance(batch, tuple) or len(batch) != 2:
        raise TypeError(f"the iterator must give batches `(x, y)`, got {_name(batch)}")
    axis = 1 if data_per_replica else 0
    leaves = jax.tree.leaves(batch)
    if not all(_is_array(leaf) and leaf.ndim > axis for leaf in leaves):
        raise TypeError(f"the iterator must give arrays, got {', '.join(map(_name, leaves))}")
    if len({leaf.shape[axis] for leaf in leaves}) != 1:
        raise ValueError(f"a batch of the iterator has x and y of different lengths: {[leaf.shape for leaf in leaves]}")


def _is_array(leaf: Any) -> bool:
    return eqx.is_array(leaf) or isinstance(leaf, np.ndarray)


def _name(value: Any) -> str:
    if _is_array(value):
        return f"an array {value.shape}"
    inside = f" of {len(value)}" if isinstance(value, (tuple, list)) else ""
    return f"a {type(value).__name__}{inside}"


def _check_finite(leaf: Any, what: str) -> None:
    if not jnp.issubdtype(leaf.dtype, jnp.inexact):
        return
    wrong = ~np.isfinite(np.asarray(leaf, np.float32 if leaf.dtype.itemsize < 4 else None))
    if wrong.any():
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"{what} has {int(wrong.sum())} values that are NaN or infinite, the first at {list(first)}: remove or "
            "impute them"
        )
