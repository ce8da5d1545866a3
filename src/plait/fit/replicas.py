"""Several models trained as one program: their arrays are stacked on a leading axis.

Replica r of a run with key k is what a run by itself with key jax.random.split(k, replicas)[r] gives.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, PyTree
from plait.model import BayesianModel

Models = BayesianModel | Sequence[BayesianModel] | Callable[..., BayesianModel]
"""A model, one for each replica, or a function of a key (and of the values of a replica) that makes one."""


def read_replicas(replicas: int | Mapping[str, Any] | None, models: Any) -> tuple[int | None, dict[str, Array] | None]:
    """How many replicas, and the values of each."""
    listed = len(models) if isinstance(models, (list, tuple)) else None
    if isinstance(replicas, Mapping):
        values = {name: jnp.asarray(value) for name, value in replicas.items()}
        sizes = {name: value.shape[:1] for name, value in values.items()}
        if len(set(sizes.values())) != 1 or () in sizes.values():
            raise ValueError(
                "`replicas` as a mapping gives values for each replica: arrays of one length, got shapes "
                f"{ {name: value.shape for name, value in values.items()} }"
            )
        count = next(iter(sizes.values()))[0]
    else:
        count, values = listed if replicas is None else replicas, None
    if count is None:
        return None, None
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"`replicas` must be a positive integer or a mapping of arrays, got {replicas!r}")
    if listed is not None and listed != count:
        raise ValueError(f"got {listed} models for {count} replicas")
    return count, values


def build(models: Models, count: int | None, values: dict[str, Array] | None, keys: Array) -> BayesianModel:
    """The model, or the stacked models; `keys` is one key, or one for each."""
    if isinstance(models, BayesianModel):
        return models if count is None else repeat(models, count)
    if isinstance(models, (list, tuple)):
        return stack(list(models))
    if not callable(models):
        raise TypeError(
            "`bnn` must be a model from `plait.bayesianize`, a list of them, or a function of a key that makes one, "
            f"got {type(models).__name__}"
        )
    arguments = (keys,) if values is None else (keys, values)
    made = models(keys) if count is None else eqx.filter_vmap(models)(*arguments)
    if not isinstance(made, BayesianModel):
        raise TypeError(f"the function given for `bnn` must return a BayesianModel, got {type(made).__name__}")
    return made


def stack(models: Sequence[BayesianModel]) -> BayesianModel:
    """Models of one structure, their arrays on a new leading axis."""
    arrays = [eqx.filter(model, eqx.is_array) for model in models]
    shapes = [jax.tree.map(lambda leaf: (leaf.shape, leaf.dtype), one) for one in arrays]
    rest = [eqx.filter(model, eqx.is_array, inverse=True) for model in models]
    if any(not eqx.tree_equal(other, rest[0]) or shape != shapes[0] for other, shape in zip(rest, shapes, strict=True)):
        raise ValueError("the models of replicas must have the same weights, posteriors and priors; these differ")
    return eqx.combine(jax.tree.map(lambda *leaves: jnp.stack(leaves), *arrays), rest[0])


def repeat(tree: PyTree, count: int) -> PyTree:
    """One tree for all replicas."""
    return jax.tree.map(lambda leaf: jnp.stack([leaf] * count) if eqx.is_array(leaf) else leaf, tree)


def pick(tree: PyTree, index: int) -> PyTree:
    """One of the stacked."""
    return jax.tree.map(lambda leaf: leaf[index] if eqx.is_array(leaf) else leaf, tree)


def unstack(tree: PyTree, count: int) -> list[Any]:
    """All of them, one by one."""
    # Copied to the host at once: slicing on the device would be a program for each array.
    whole = jax.tree.map(lambda leaf: np.asarray(leaf) if _plain(leaf) else leaf, tree)
    return [jax.tree.map(functools.partial(_part, index=index), whole) for index in range(count)]


def _plain(leaf: Any) -> bool:
    return eqx.is_array(leaf) and not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _part(leaf: Any, *, index: int) -> Any:
    if isinstance(leaf, np.ndarray):
        return jnp.asarray(leaf[index])
    return leaf[index] if eqx.is_array(leaf) else leaf
