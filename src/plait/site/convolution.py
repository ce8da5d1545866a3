"""Convolutions of any number of dimensions: stride, padding, dilation (of inputs too: transposed), groups.

Rows are filter taps times input channels of one group, columns are output channels.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from plait._typing import Array
from plait.linalg.skinny import skinny_product
from plait.site.base import MatrixSite, Operand, Site, along_examples, prod
from plait.site.layout import Atom, Layout
from plait.site.view import WeightView


@dataclass(frozen=True)
class ConvolutionSite(MatrixSite):
    """A weight as the kernel of a `conv_general_dilated`."""

    kind: ClassVar[str] = "conv"

    @classmethod
    def match(
        cls, primitive: str, params: dict[str, Any], index: int, view: WeightView, x: Operand, y: Operand
    ) -> "Site | None":
        if primitive != "conv_general_dilated" or index != 1 or params["batch_group_count"] != 1:
            return None
        return None if view.is_broadcast(range(len(view.sizes))) else cls(view, index, params, x, y)

    @property
    def _kernel_axes(self) -> tuple[int, ...]:
        """Axes of the seen kernel: out, in, spatial..."""
        return self.params["dimension_numbers"].rhs_spec

    @property
    def layout(self) -> Layout:
        view = self.view
        out, channel, *taps = self._kernel_axes
        return Layout.from_atoms(view.shape, view.atoms_of([channel, *taps]), view.atoms_of([out]), view.atoms_of(taps))

    @property
    def groups(self) -> int:
        return self.params["feature_group_count"]

    @property
    def row_atoms(self) -> tuple[Atom, ...]:
        return self.view.atoms_of(self._kernel_axes[1:])

    @property
    def column_atoms(self) -> tuple[Atom, ...]:
        return self.view.atoms_of(self._kernel_axes[:1])

    @property
    def _channel_axis(self) -> int:
        return self.params["dimension_numbers"].out_spec[1]

    @property
    def output_axes(self) -> tuple[int, ...]:
        return (self._channel_axis,)

    @property
    def positions(self) -> int:
        return prod(self.y.shape) // self.layout.fan_out

    def _convolve(self, x: Array, kernel: Array) -> Array:
        p = self.params
        return jax.lax.conv_general_dilated(
            x,
            kernel,
            p["window_strides"],
            p["padding"],
            lhs_dilation=p["lhs_dilation"],
            rhs_dilation=p["rhs_dilation"],
            dimension_numbers=p["dimension_numbers"],
            feature_group_count=p["feature_group_count"],
            precision=p["precision"],
            preferred_element_type=p["preferred_element_type"],
        )

    def linear(self, x: Array, tensor: Array) -> Array:
        return self._convolve(x, self.view.show(tensor))

    def contract(self, x: Array, rows: Array) -> Array:
        out, channel, *taps = self._kernel_axes
        kernel = self.view.show_side(rows, self.row_atoms, self.row_atoms)
        kernel = kernel.reshape(rows.shape[:1] + tuple(self.view.sizes[i] for i in (channel, *taps)))
        # Output channels run over groups first: every group gets its own copy of the row factors.
        kernel = jnp.tile(kernel, (self.groups, *(1 for _ in (channel, *taps))))
        kernel = jnp.transpose(kernel, sorted(range(kernel.ndim), key=lambda i: (out, channel, *taps)[i]))
        features = jnp.moveaxis(self._convolve(x, kernel.astype(x.dtype)), self._channel_axis, -1)
        if self.groups == 1:
            return features
        return features.reshape(*features.shape[:-1], self.groups, -1)

    def expand(self, features: Array, columns: Array) -> Array:
        columns = self.view.show_side(columns, self.column_atoms, self.column_atoms).reshape(columns.shape)
        columns = columns.astype(features.dtype)
        if self.groups == 1:
            y = skinny_product(features, columns)
        else:
            grouped = columns.reshape(columns.shape[0], self.groups, -1)
            y = jnp.einsum("...gr,rgj->...gj", features, grouped)
            y = y.reshape(*y.shape[:-2], -1)
        return jnp.moveaxis(y, -1, self._channel_axis)

    @property
    def sign_shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        # One sign for each example and channel, shared by all places (Wen et al. 2018, section 4).
        spec = self.params["dimension_numbers"]
        x = tuple(size if i in spec.lhs_spec[:2] else 1 for i, size in enumerate(self.x.shape))
        y = tuple(size if i in spec.out_spec[:2] else 1 for i, size in enumerate(self.y.shape))
        return x, y

    def scale_input(self, x: Array, units: Array) -> Array:
        channel = self.params["dimension_numbers"].lhs_spec[1]
        atoms = self.view.atoms_of([self._kernel_axes[1]])
        values = self.view.show_side(units.reshape(-1, units.shape[-1]), atoms, atoms)
        values = jnp.tile(values.reshape(values.shape[0], -1), (1, self.groups))
        return x * along_examples(values, units.ndim, self.x_examples, (channel,), self.x).astype(x.dtype)

    def scale_output(self, y: Array, columns: Array) -> Array:
        atoms = self.column_atoms
        values = self.view.show_side(columns.reshape(-1, columns.shape[-1]), atoms, atoms)
        values = values.reshape(values.shape[0], -1)
        return y * along_examples(values, columns.ndim, self.y_examples, (self._channel_axis,), self.y).astype(y.dtype)

    def inputs_as_rows(self, x: Array) -> Array:
        # An identity kernel cuts the patches out, whatever the stride, padding and dilation.
        identity = jnp.eye(self.layout.fan_in, dtype=x.dtype)
        return self.contract(x, identity).reshape(self.positions, self.groups, -1)

    def outputs_as_columns(self, y: Array) -> Array:
        return self._stored_columns(jnp.moveaxis(y, self._channel_axis, -1).reshape(self.positions, self.groups, -1))
