"""Contractions of any dimension numbers: y = x . W (`dot_general`).

Batch dimensions of the contraction (one matrix for each head or expert) count as fan-out: column (b, j) sees the
inputs of group b only.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from plait._compat import is_mapped
from plait._typing import Array
from plait.linalg.merged_product import merged_product
from plait.linalg.skinny import skinny_product
from plait.site.base import MatrixSite, Operand, Site, along_examples, prod
from plait.site.layout import Atom, Layout
from plait.site.view import WeightView


@dataclass(frozen=True)
class DenseSite(MatrixSite):
    """A weight in a `dot_general`."""

    kind: ClassVar[str] = "dense"

    @classmethod
    def match(
        cls, primitive: str, params: dict[str, Any], index: int, view: WeightView, x: Operand, y: Operand
    ) -> "Site | None":
        if primitive != "dot_general":
            return None
        return None if view.is_broadcast(range(len(view.sizes))) else cls(view, index, params, x, y)

    # The dimension numbers, from the activation's and the weight's side.

    def _side(self, which: int, ours: bool) -> tuple[int, ...]:
        pair = self.params["dimension_numbers"][which]
        return tuple(int(i) for i in pair[self.index if ours else 1 - self.index])

    @property
    def contracted(self) -> tuple[int, ...]:
        return self._side(0, True)

    @property
    def _batch(self) -> tuple[int, ...]:
        return self._side(1, True)

    @property
    def free(self) -> tuple[int, ...]:
        return tuple(i for i in range(len(self.view.sizes)) if i not in self.contracted + self._batch)

    @property
    def x_contracted(self) -> tuple[int, ...]:
        return self._side(0, False)

    @property
    def _x_batch(self) -> tuple[int, ...]:
        return self._side(1, False)

    @property
    def _x_free(self) -> tuple[int, ...]:
        return tuple(i for i in range(len(self.x.shape)) if i not in self.x_contracted + self._x_batch)

    @property
    def layout(self) -> Layout:
        return Layout.from_atoms(self.view.shape, self.row_atoms, self.column_atoms)

    @property
    def groups(self) -> int:
        return prod([self.view.sizes[i] for i in self._batch])

    @property
    def row_atoms(self) -> tuple[Atom, ...]:
        return self.view.atoms_of(self.contracted)

    @property
    def column_atoms(self) -> tuple[Atom, ...]:
        return self.view.atoms_of(self._batch + self.free)

    @property
    def output_axes(self) -> tuple[int, ...]:
        first = len(self._batch) + (0 if self.index == 0 else len(self._x_free))
        return (*range(len(self._batch)), *range(first, first + len(self.free)))

    @property
    def positions(self) -> int:
        return prod([self.x.shape[i] for i in self._x_free])

    def linear(self, x: Array, tensor: Array) -> Array:
        weight = self.view.show(tensor)
        options = {name: self.params[name] for name in ("precision", "preferred_element_type")}
        # What no map reaches yet, the inputs of a first layer, would meet the rule where it cannot be differentiated.
        if self.mapped and not self._batch and is_mapped(x):
            y = merged_product(x, weight, (self.x_contracted, self.contracted), **options)
            columns = len(self.free)
            lead = range(y.ndim - columns)
            return jnp.moveaxis(y, lead, range(columns, y.ndim)) if self.index == 0 else y
        lhs, rhs = (weight, x) if self.index == 0 else (x, weight)
        return jax.lax.dot_general(lhs, rhs, self.params["dimension_numbers"], **options)

    def contract(self, x: Array, rows: Array) -> Array:
        kernel = self.view.show_side(rows, self.row_atoms, self.row_atoms).reshape(
            rows.shape[:1] + tuple(self.view.sizes[i] for i in self.contracted)
        )
        axes = tuple(range(1, kernel.ndim))
        features = jax.lax.dot_general(x, kernel.astype(x.dtype), ((self.x_contracted, axes), ((), ())))
        if not self._batch:
            return features
        # The batch axes of x are among the leading axes of the features: gather them into one group axis.
        kept = [i for i in range(len(self.x.shape)) if i not in self.x_contracted]
        where = [kept.index(i) for i in self._x_batch]
        lead = [i for i in range(len(kept)) if i not in where]
        features = jnp.transpose(features, (*lead, *where, len(kept)))
        return features.reshape(*(features.shape[i] for i in range(len(lead))), self.groups, -1)

    def expand(self, features: Array, columns: Array) -> Array:
        order = self.column_atoms
        kernel = self.view.show_side(columns, order, order)
        free = tuple(self.view.sizes[i] for i in self.free)
        if not self._batch:
            kernel = kernel.reshape(columns.shape[0], -1).astype(features.dtype)
            y = skinny_product(features, kernel).reshape(*features.shape[:-1], *free)
            lead = features.ndim - 1
            return jnp.moveaxis(y, range(lead), range(len(free), len(free) + lead)) if self.index == 0 else y
        kernel = kernel.reshape(*columns.shape[:1], self.groups, *free).astype(features.dtype)
        lead = features.ndim - 2
        y = jax.lax.dot_general(features, kernel, (((lead + 1,), (0,)), ((lead,), (1,))))
        if self.index == 0:
            y = jnp.moveaxis(y, range(1, 1 + lead), range(1 + len(free), 1 + len(free) + lead))
        return y.reshape(self.y.shape)

    def scale_input(self, x: Array, units: Array) -> Array:
        atoms = self.row_atoms
        sizes = tuple(self.view.sizes[i] for i in self.contracted)
        values = self.view.show_side(units.reshape(-1, units.shape[-1]), atoms, atoms)
        values = values.reshape(values.shape[:1] + sizes)
        return x * along_examples(values, units.ndim, self.x_examples, self.x_contracted, self.x).astype(x.dtype)

    def scale_output(self, y: Array, columns: Array) -> Array:
        order = self.column_atoms
        sizes = tuple(self.view.sizes[i] for i in self._batch + self.free)
        values = self.view.show_side(columns.reshape(-1, columns.shape[-1]), order, order)
        values = values.reshape(values.shape[:1] + sizes)
        axes = self.output_axes
        return y * along_examples(values, columns.ndim, self.y_examples, axes, self.y).astype(y.dtype)

    def inputs_as_rows(self, x: Array) -> Array:
        rows = jnp.transpose(x, (*self._x_free, *self._x_batch, *self.x_contracted))
        return self._stored_rows(rows.reshape(self.positions, self.groups, -1))

    def outputs_as_columns(self, y: Array) -> Array:
        # y has the batch axes first, then the free axes of the left operand and those of the right.
        batch, free = len(self._batch), len(self.free)
        ours = batch if self.index == 0 else y.ndim - free
        theirs = [i for i in range(batch, y.ndim) if not ours <= i < ours + free]
        columns = jnp.transpose(y, (*theirs, *range(batch), *range(ours, ours + free)))
        return self._stored_columns(columns.reshape(self.positions, self.groups, -1))
