"""Layer objects remember their sizes beside their arrays; after a cut they must remember the new ones.

The tables say, for the layers of Equinox and Flax NNX, how each remembered size follows from an array's shape. What a
layer of your own remembers is found out by running the smaller model: see `plait.shrink`.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax

Sizes = Mapping[str, Callable[[Any], Any]]


def _axis(array: str, axis: int, factor: str | None = None) -> Callable[[Any], Any]:
    """The length of an axis of one of a layer's arrays; several groups share an input axis."""

    def size(layer: Any) -> Any:
        value = getattr(layer, array)
        return None if value is None else value.shape[axis] * (getattr(layer, factor) if factor else 1)

    return size


def _widest(layer: Any) -> Any:
    return max((inner.out_features for inner in layer.layers[:-1]), default=layer.width_size)


EQUINOX: Mapping[type, Sizes] = {
    eqx.nn.Linear: {"in_features": _axis("weight", 1), "out_features": _axis("weight", 0)},
    eqx.nn.Conv: {"in_channels": _axis("weight", 1, "groups"), "out_channels": _axis("weight", 0)},
    eqx.nn.ConvTranspose: {"in_channels": _axis("weight", 1, "groups"), "out_channels": _axis("weight", 0)},
    eqx.nn.Embedding: {"num_embeddings": _axis("weight", 0), "embedding_size": _axis("weight", 1)},
    eqx.nn.BatchNorm: {"input_size": _axis("weight", 0)},
    eqx.nn.MLP: {"width_size": _widest},
}

NNX: Mapping[str, Sizes] = {
    "Linear": {"in_features": _axis("kernel", 0), "out_features": _axis("kernel", 1)},
    "Conv": {"in_features": _axis("kernel", -2, "feature_group_count"), "out_features": _axis("kernel", -1)},
    "Embed": {"num_embeddings": _axis("embedding", 0), "features": _axis("embedding", 1)},
    "BatchNorm": {"num_features": _axis("scale", 0)},
}


def update_sizes(model: Any) -> Any:
    """The model with every layer's remembered sizes those of its arrays."""
    nnx = sys.modules.get("flax.nnx")
    if nnx is not None and isinstance(model, nnx.Module):
        for _, node in nnx.iter_graph(model):
            if isinstance(node, nnx.Module):
                _set(node, NNX.get(type(node).__name__, {}))
        return model
    return _in_layers(model)


def _in_layers(tree: Any) -> Any:
    """A tree with the layers in it rebuilt."""
    return jax.tree.map(lambda leaf: _rebuilt(leaf) if _is_layer(leaf) else leaf, tree, is_leaf=_is_layer)


def _rebuilt(layer: eqx.Module) -> eqx.Module:
    """A copy, inner layers first; sizes are static fields of frozen objects."""
    new = object.__new__(type(layer))
    for name, value in vars(layer).items():
        object.__setattr__(new, name, _in_layers(value))
    for kind, sizes in EQUINOX.items():
        if isinstance(layer, kind):
            _set(new, sizes)
    return new


def _is_layer(value: Any) -> bool:
    return isinstance(value, eqx.Module)


def _set(layer: Any, sizes: Sizes) -> None:
    for name, size in sizes.items():
        value = size(layer)
        # "scalar" is a size too, of a layer without that axis.
        if value is not None and isinstance(getattr(layer, name), int):
            object.__setattr__(layer, name, value)
    if sizes and hasattr(layer, "kernel_shape"):
        object.__setattr__(layer, "kernel_shape", tuple(layer.kernel.shape))
