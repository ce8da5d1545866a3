"""A user's model as weights by name, everything else, and a call on batches.

Equinox modules are called per example (the library vmaps them); Flax NNX modules and functions over a pytree are called
on batches. `apply` overrides the call for any of them. Of a Flax linen module's variables only `params` are weights.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._compat import Tracer, is_key
from plait._typing import Array


class Skeleton(eqx.Module):
    """A model without its weights: other arrays (buffers, counters), structure, and how it is called."""

    buffers: tuple[Array | None, ...]
    paths: tuple[str | None, ...] = eqx.field(static=True)
    """For each leaf of the model, the name of the weight that belongs there."""
    static: tuple[Any, ...] = eqx.field(static=True)
    """For each leaf that is neither weight nor array, the leaf."""
    structure: Any = eqx.field(static=True)
    graph: Any = eqx.field(static=True)
    """The graph definition of a Flax NNX module."""
    call: Callable[..., Any] = eqx.field(static=True)

    def assemble(self, weights: dict[str, Array]) -> Any:
        """The model, of the type it was given as, with the given weights."""
        leaves = [
            weights[path] if path is not None else (buffer if buffer is not None else static)
            for path, buffer, static in zip(self.paths, self.buffers, self.static, strict=True)
        ]
        tree = jax.tree.unflatten(self.structure, leaves)
        if self.graph is None:
            return tree
        nnx = sys.modules["flax.nnx"]
        return nnx.merge(self.graph, *tree)

    def __call__(self, weights: dict[str, Array], *args: Any, **kwargs: Any) -> Any:
        """The forward pass."""
        try:
            return self.call(self.assemble(weights), *args, **kwargs)
        except (TypeError, ValueError) as error:
            shapes = ", ".join(str(leaf.shape) for leaf in jax.tree.leaves(args[:1]) if eqx.is_array(leaf))
            how = "for each example of" if self.call is _call_per_example else "on"
            error.add_note(
                f"The model was called {how} a batch x of shape {shapes}; the first axis must run over examples. "
                "`apply=fn` with fn(model, x_batch, ...) changes how it is called"
            )
            raise


def adapt(model: Any, apply: Callable[..., Any] | None) -> tuple[dict[str, Array], Skeleton]:
    """Split a model into its weights and its skeleton."""
    nnx = sys.modules.get("flax.nnx")
    graph = None
    if nnx is not None and isinstance(model, nnx.Module):
        graph, params, rest = nnx.split(model, nnx.Param, ...)
        tree, call, weight_tree = (params, rest), apply or _call_on_batch, params
        num_weights = len(jax.tree.leaves(weight_tree))
    elif isinstance(model, eqx.Module):
        if apply is None and not callable(model):
            raise TypeError(
                f"an Equinox module must be callable, and {type(model).__name__} is not: pass `apply=fn`, where "
                "fn(model, x_batch, ...) is the forward pass"
            )
        tree, call, num_weights = model, apply or _call_per_example, None
    elif apply is not None:
        tree, call, num_weights = model, apply, None
    else:
        raise TypeError(
            f"cannot call a {type(model).__name__}: pass an Equinox module, a Flax NNX module, or any pytree of "
            "parameters together with `apply=fn`, where fn(params, x_batch, ...) is the forward pass"
        )
    # The variables of a Flax linen module: collections beside `params`, such as running statistics, are no weights.
    is_linen = isinstance(model, Mapping) and "params" in model
    flat, structure = jax.tree_util.tree_flatten_with_path(tree)
    weights: dict[str, Array] = {}
    paths: list[str | None] = []
    buffers: list[Any] = []
    static: list[Any] = []
    for index, (where, leaf) in enumerate(flat):
        is_array = eqx.is_array(leaf) or isinstance(leaf, np.ndarray)
        is_weight = is_array and not is_key(leaf) and jnp.issubdtype(leaf.dtype, jnp.floating)
        is_weight = (
            is_weight and (num_weights is None or index < num_weights) and not (is_linen and _is_linen_state(where))
        )
        path = _name(where[1:] if graph is not None else where) if is_weight else None
        paths.append(path)
        is_buffer = is_array and path is None
        buffers.append((leaf if is_key(leaf) else jnp.asarray(leaf)) if is_buffer else None)
        static.append(None if is_array else leaf)
        if path is not None:
            weights[path] = jnp.asarray(leaf)
    _check(weights, flat)
    skeleton = Skeleton(tuple(buffers), tuple(paths), tuple(static), structure, graph, call)
    return weights, skeleton


def _is_linen_state(where: tuple[Any, ...]) -> bool:
    return getattr(where[0], "key", None) != "params"


def _name(where: tuple[Any, ...]) -> str:
    name = jax.tree_util.keystr(where, simple=True, separator=".")
    return name.removesuffix(".value").removesuffix(".raw_value") or "weight"


def _check(weights: dict[str, Array], flat: list[tuple[Any, Any]]) -> None:
    if not weights:
        kinds = sorted({str(getattr(leaf, "dtype", type(leaf).__name__)) for _, leaf in flat})
        raise TypeError(
            "the model has no floating-point arrays to put a posterior on"
            + (f" (its leaves are {', '.join(kinds)}); cast integer weights to a floating type" if kinds else "")
        )
    for path, weight in weights.items():
        if not isinstance(weight, Tracer) and not bool(jnp.all(jnp.isfinite(weight))):
            raise ValueError(
                f"weight {path!r} must be finite for a posterior to start there, and has entries that are not; "
                "initialise or restore it anew"
            )


def _call_on_batch(model: Any, *args: Any, **kwargs: Any) -> Any:
    return model(*args, **kwargs)


def _call_per_example(model: Any, *args: Any, **kwargs: Any) -> Any:
    """An Equinox module on a batch.

    Arrays run over examples on their first axis; one key (of dropout, say) is split between them; an `eqx.nn.State` is
    shared and comes back shared, updated over the axis named "batch".
    """
    size = next(leaf.shape[0] for leaf in jax.tree.leaves(args[0]) if eqx.is_array(leaf))
    args = tuple(jax.random.split(a, size) if is_key(a) and a.shape == () else a for a in args)
    # What is not an array is passed through, in both directions.
    each = eqx.if_array(0)
    in_axes = tuple(None if _is_state(a) else each for a in args)
    out_axes = (each, None) if any(_is_state(a) for a in args) else each
    mapped = eqx.filter_vmap(lambda *one: model(*one, **kwargs), in_axes=in_axes, out_axes=out_axes, axis_name="batch")
    return mapped(*args)


def _is_state(value: Any) -> bool:
    return isinstance(value, eqx.nn.State)
