"""A tree as arrays by name; a name is the path through the tree, "posteriors/layers.0.weight/mean".

A key of `jax.random` goes by its data. Leaves that are plain numbers (a prior's given scale) have names too.
"""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._compat import is_key
from plait._typing import PyTree


def arrays_of(tree: PyTree) -> dict[str, Any]:
    """Every array."""
    return {name: jax.random.key_data(leaf) if is_key(leaf) else leaf for name, leaf in _leaves(tree) if _holds(leaf)}


def numbers_of(tree: PyTree) -> dict[str, Any]:
    """Every leaf that is a plain number or text."""
    return {name: leaf for name, leaf in _leaves(tree) if isinstance(leaf, (bool, int, float, str))}


def key_kinds(tree: PyTree) -> dict[str, str]:
    """The generator of every random key."""
    return {name: str(jax.random.key_impl(leaf)) for name, leaf in _leaves(tree) if is_key(leaf)}


def with_arrays(tree: PyTree, arrays: Mapping[str, Any]) -> PyTree:
    """The tree with other arrays of the same names, shapes and dtypes."""
    flat, structure = jax.tree_util.tree_flatten_with_path(tree)

    def put(where: tuple[Any, ...], leaf: Any) -> Any:
        if not _holds(leaf):
            return leaf
        value = jnp.asarray(arrays[_name(where)])
        return jax.random.wrap_key_data(value, impl=str(jax.random.key_impl(leaf))) if is_key(leaf) else value

    return jax.tree.unflatten(structure, [put(where, leaf) for where, leaf in flat])


def kinds_of(arrays: Mapping[str, Any]) -> dict[str, str]:
    """Dtype and shape of every array, as text: "float32[10,3]"."""
    return {name: f"{array.dtype.name}[{','.join(map(str, array.shape))}]" for name, array in arrays.items()}


def differences(saved: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """A line for every name whose value in a file is not the one that is wanted."""
    names = sorted(saved.keys() | wanted.keys())
    return [
        f"{name}: saved {saved.get(name, 'none')}, wanted {wanted.get(name, 'none')}"
        for name in names
        if name not in saved or name not in wanted or saved[name] != wanted[name]
    ]


def shorten(lines: list[str], limit: int = 8) -> str:
    """Lines for an error message."""
    shown = "".join(f"\n  {line}" for line in lines[:limit])
    return shown + (f"\n  ... and {len(lines) - limit} more" if len(lines) > limit else "")


def _holds(leaf: Any) -> bool:
    return eqx.is_array(leaf) or isinstance(leaf, np.ndarray)


def _leaves(tree: PyTree) -> list[tuple[str, Any]]:
    return [(_name(where), leaf) for where, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]]


def _name(where: tuple[Any, ...]) -> str:
    return jax.tree_util.keystr(where, simple=True, separator="/")
