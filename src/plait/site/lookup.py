"""Row lookups: y_n = W[index_n, :] (`gather` along one axis), as embeddings do."""

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from plait._typing import Array
from plait.site.base import MatrixSite, Operand, Site, along_examples, prod
from plait.site.layout import Atom, Layout
from plait.site.view import WeightView


@dataclass(frozen=True)
class LookupSite(MatrixSite):
    """A weight whose rows are picked by integer activations."""

    kind: ClassVar[str] = "embedding"

    @classmethod
    def match(
        cls, primitive: str, params: dict[str, Any], index: int, view: WeightView, x: Operand, y: Operand
    ) -> "Site | None":
        if primitive != "gather" or index != 0 or view.is_broadcast(range(len(view.sizes))):
            return None
        numbers, sizes = params["dimension_numbers"], params["slice_sizes"]
        if numbers.operand_batching_dims:
            return None
        picked = [a for a in range(len(sizes)) if sizes[a] == 1 and view.sizes[a] != 1]
        whole = [a for a in range(len(sizes)) if sizes[a] == view.sizes[a]]
        if len(picked) != 1 or len(picked) + len(whole) != len(sizes) or picked[0] not in numbers.start_index_map:
            return None
        # A start index on an axis that is taken whole is clipped to 0; other modes could reject it.
        clipped = params["mode"] == jax.lax.GatherScatterMode.CLIP
        return cls(view, index, params, x, y) if clipped or len(numbers.start_index_map) == 1 else None

    @property
    def _row_axis(self) -> int:
        sizes = self.params["slice_sizes"]
        return next(a for a in range(len(sizes)) if sizes[a] == 1 and self.view.sizes[a] != 1)

    @property
    def column_axes(self) -> tuple[int, ...]:
        return tuple(a for a in range(len(self.view.sizes)) if a != self._row_axis)

    @property
    def layout(self) -> Layout:
        # Rows are picked, not summed over: none of them is an input unit.
        return Layout.from_atoms(self.view.shape, self.row_atoms, self.column_atoms, taps=self.row_atoms)

    @property
    def row_atoms(self) -> tuple[Atom, ...]:
        return self.view.atoms_of([self._row_axis])

    @property
    def column_atoms(self) -> tuple[Atom, ...]:
        return self.view.atoms_of(self.column_axes)

    @property
    def output_axes(self) -> tuple[int, ...]:
        slices = [a for a in range(len(self.view.sizes)) if a not in self._collapsed()]
        return tuple(self.offsets[slices.index(a)] for a in self.column_axes if a not in self._collapsed())

    @property
    def positions(self) -> int:
        return prod(self.x.shape[:-1])

    @property
    def flops(self) -> int:
        return 0

    def square(self, x: Array) -> Array:
        return x

    def linear(self, x: Array, tensor: Array) -> Array:
        p = self.params
        return jax.lax.gather(
            self.view.show(tensor),
            x,
            p["dimension_numbers"],
            p["slice_sizes"],
            indices_are_sorted=p["indices_are_sorted"],
            unique_indices=p["unique_indices"],
            mode=p["mode"],
            fill_value=p["fill_value"],
        )

    def contract(self, x: Array, rows: Array) -> Array:
        table = self.view.show_side(rows, self.row_atoms, self.row_atoms).reshape(rows.shape).T
        which = self.params["dimension_numbers"].start_index_map.index(self._row_axis)
        indices = x[..., which : which + 1]
        numbers = jax.lax.GatherDimensionNumbers((indices.ndim - 1,), (0,), (0,))
        mode, fill = self.params["mode"], self.params["fill_value"]
        return jax.lax.gather(table, indices, numbers, (1, table.shape[1]), mode=mode, fill_value=fill)

    def expand(self, features: Array, columns: Array) -> Array:
        order = self.column_atoms
        kernel = self.view.show_side(columns, order, order)
        kernel = kernel.reshape(columns.shape[:1] + tuple(self.view.sizes[a] for a in self.column_axes))
        y = jnp.tensordot(features, kernel, 1)
        return jnp.moveaxis(self._with_row_axis(y), self._offsets_at_end(y), self.offsets)

    @property
    def offsets(self) -> tuple[int, ...]:
        """Axes of y that run over the slice."""
        return tuple(self.params["dimension_numbers"].offset_dims)

    def _offsets_at_end(self, y: Array) -> tuple[int, ...]:
        rank = len(self.y.shape)
        return tuple(range(rank - len(self.offsets), rank))

    def _with_row_axis(self, y: Array) -> Array:
        """Columns last, and the looked-up axis among them with size one unless the program collapses it."""
        if self._row_axis in self.params["dimension_numbers"].collapsed_slice_dims:
            return y
        kept = [
            a for a in range(len(self.view.sizes)) if a not in self.params["dimension_numbers"].collapsed_slice_dims
        ]
        return jnp.expand_dims(y, y.ndim - len(self.column_axes) + kept.index(self._row_axis))

    @property
    def sign_shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return (), self.y.shape

    def scale_input(self, x: Array, units: Array) -> Array:
        raise ValueError(f"a lookup has no input units to scale, got {units.shape[-1]}; scale its columns only")

    def scale_output(self, y: Array, columns: Array) -> Array:
        order = self.column_atoms
        values = self.view.show_side(columns.reshape(-1, columns.shape[-1]), order, order)
        axes = self.output_axes
        values = values.reshape(values.shape[:1] + tuple(y.shape[a] for a in axes))
        return y * along_examples(values, columns.ndim, self.y_examples, axes, self.y).astype(y.dtype)

    def _collapsed(self) -> tuple[int, ...]:
        return tuple(self.params["dimension_numbers"].collapsed_slice_dims)

    def inputs_as_rows(self, x: Array) -> Array:
        identity = jnp.eye(self.layout.fan_in, dtype=self.y.dtype)
        return self.contract(x, identity).reshape(self.positions, 1, -1)

    def outputs_as_columns(self, y: Array) -> Array:
        columns = jnp.moveaxis(y, self.offsets, range(y.ndim - len(self.offsets), y.ndim))
        return self._stored_columns(columns.reshape(self.positions, 1, -1))
