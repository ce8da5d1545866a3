"""Elementwise shifts and scales: y = x + b and y = x o g, the weight broadcast over examples and places.

Their weight has no fan-in side: it is a vector to every family.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp

from plait._typing import Array
from plait.site.base import Operand, Site, along_examples, prod
from plait.site.layout import Layout, in_order
from plait.site.view import WeightView


@dataclass(frozen=True)
class ElementwiseSite(Site):
    """A broadcast weight that meets the activation entry by entry."""

    @property
    def layout(self) -> Layout:
        return Layout.from_atoms(self.view.shape, (), self.view.atoms)

    @property
    def positions(self) -> int:
        return prod(self.y.shape) // max(1, prod(self.view.shape))

    def _broadcast(self, tensor: Array) -> Array:
        return jnp.broadcast_to(self.view.show(tensor), self.y.shape)

    @abstractmethod
    def linear(self, x: Array, tensor: Array) -> Array: ...

    @property
    def sign_shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        # The entries are independent, so a sign for each entry of y serves; x takes none.
        return (), self.y.shape

    def scale_output(self, y: Array, columns: Array) -> Array:
        values = self.spread(columns)
        return y * values.astype(y.dtype)

    def spread(self, columns: Array) -> Array:
        """[size] or [examples, size] values broadcastable against y."""
        if columns.ndim == 1:
            return self._broadcast(columns.reshape(self.view.shape))
        axes = [a for a, dim in enumerate(self.view.dims) if prod([atom.size for atom in dim]) > 1]
        order = tuple(atom for a in axes for atom in self.view.dims[a])
        atoms = in_order(order)
        values = self.view.show_side(columns, atoms, order)
        values = values.reshape(values.shape[:1] + tuple(self.view.sizes[a] for a in axes))
        return along_examples(values, columns.ndim, self.y_examples, axes, self.y)


@dataclass(frozen=True)
class BiasSite(ElementwiseSite):
    """y = x + b."""

    kind: ClassVar[str] = "bias"

    @classmethod
    def match(
        cls, primitive: str, params: dict[str, Any], index: int, view: WeightView, x: Operand, y: Operand
    ) -> "Site | None":
        return cls(view, index, params, x, y) if primitive in ("add", "add_any") and y.shape else None

    def linear(self, x: Array, tensor: Array) -> Array:
        del x
        return self._broadcast(tensor)

    def finish(self, x: Array, linear: Array) -> Array:
        return x + linear

    @property
    def flops(self) -> int:
        return prod(self.y.shape)


@dataclass(frozen=True)
class ScaleSite(ElementwiseSite):
    """y = x o g."""

    kind: ClassVar[str] = "scale"

    @classmethod
    def match(
        cls, primitive: str, params: dict[str, Any], index: int, view: WeightView, x: Operand, y: Operand
    ) -> "Site | None":
        return cls(view, index, params, x, y) if primitive == "mul" and y.shape else None

    def linear(self, x: Array, tensor: Array) -> Array:
        return x * self._broadcast(tensor)

    @property
    def flops(self) -> int:
        return prod(self.y.shape)
