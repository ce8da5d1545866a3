"""A weight tensor seen as a matrix: rows are its fan-in side, columns its fan-out side.

A tensor's axes are refined into *atoms*, the pieces that reshapes and transposes move about whole. Rows and columns are
sets of atoms in the tensor's own order, so the matrix view never depends on how a model happened to arrange its axes
on the way to the contraction: Equinox (out x in), Flax (in x out), HWIO and OIHW kernels all come out alike.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np

from plait._typing import Array

Kept: TypeAlias = tuple[np.ndarray, ...]
"""For each axis of a tensor, which of its entries are kept, in ascending order."""


class Atom(NamedTuple):
    """Part of one axis of a weight: axis index = sum over its atoms of (atom index) * stride."""

    axis: int
    size: int
    stride: int


def in_order(atoms: Iterable[Atom]) -> tuple[Atom, ...]:
    """Atoms in the order in which they lie in the tensor's memory."""
    return tuple(sorted(atoms, key=lambda atom: (atom.axis, -atom.stride)))


def whole_axes(shape: tuple[int, ...]) -> tuple[Atom, ...]:
    """One atom for each axis."""
    return tuple(Atom(axis, size, 1) for axis, size in enumerate(shape))


@dataclass(frozen=True)
class Layout:
    """Which atoms of a weight are fan-in (rows), which of these are filter taps; the rest are fan-out (columns)."""

    shape: tuple[int, ...]
    rows: tuple[Atom, ...]
    columns: tuple[Atom, ...]
    taps: tuple[Atom, ...] = ()

    @staticmethod
    def vector(shape: tuple[int, ...]) -> "Layout":
        """A weight without a fan-in side: biases, scales, and what no site consumes."""
        return Layout(shape, (), whole_axes(shape))

    @staticmethod
    def matrix(shape: tuple[int, ...], fan_in: Iterable[int], taps: Iterable[int] = ()) -> "Layout":
        """The layout whose fan-in side is the given whole axes."""
        axes = whole_axes(shape)
        fan_in, taps = set(fan_in), set(taps)
        return Layout(
            shape,
            tuple(axes[i] for i in range(len(shape)) if i in fan_in),
            tuple(axes[i] for i in range(len(shape)) if i not in fan_in),
            tuple(axes[i] for i in sorted(taps)),
        )

    @staticmethod
    def from_atoms(
        shape: tuple[int, ...], rows: Iterable[Atom], columns: Iterable[Atom], taps: Iterable[Atom] = ()
    ) -> "Layout":
        """The layout of the given atoms, neighbours on the same side merged."""
        taps = set(taps)
        side = {atom: ("rows", atom in taps) for atom in rows} | dict.fromkeys(columns, ("columns", False))
        merged: list[tuple[Atom, tuple[str, bool]]] = []
        for atom in in_order(side):
            if merged and merged[-1][1] == side[atom] and merged[-1][0].axis == atom.axis:
                previous = merged.pop()[0]
                merged.append((Atom(atom.axis, previous.size * atom.size, atom.stride), side[atom]))
            else:
                merged.append((atom, side[atom]))
        return Layout(
            shape,
            tuple(atom for atom, where in merged if where[0] == "rows"),
            tuple(atom for atom, where in merged if where[0] == "columns"),
            tuple(atom for atom, where in merged if where[1]),
        )

    @property
    def is_vector(self) -> bool:
        return not self.rows

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return in_order((*self.rows, *self.columns))

    @property
    def units(self) -> tuple[Atom, ...]:
        """Row atoms that are not filter taps: the input units or channels."""
        return tuple(atom for atom in self.rows if atom not in self.taps)

    @property
    def fan_in(self) -> int:
        return math.prod(atom.size for atom in self.rows)

    @property
    def fan_out(self) -> int:
        return math.prod(atom.size for atom in self.columns)

    @property
    def num_units(self) -> int:
        return math.prod(atom.size for atom in self.units)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def restricted(self, kept: Kept) -> "Layout":
        """The layout of a tensor of which only some entries are kept on each axis."""
        cut = {axis for axis, index in enumerate(kept) if len(index) != self.shape[axis]}
        if any(sum(atom.axis == axis for atom in self.atoms) > 1 for axis in cut):
            raise ValueError(
                f"rows and columns share an axis of a weight of shape {self.shape}: it cannot be cut there"
            )

        def resize(atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
            return tuple(atom._replace(size=len(kept[atom.axis])) if atom.axis in cut else atom for atom in atoms)

        shape = tuple(len(index) for index in kept)
        return Layout(shape, resize(self.rows), resize(self.columns), resize(self.taps))

    def sides_of(self, kept: Kept) -> tuple[np.ndarray, np.ndarray]:
        """The rows and the columns of the matrix that belong to the entries kept on each axis."""
        inside = np.zeros(self.shape, bool)
        inside[np.ix_(*kept)] = True
        refined = inside.reshape([atom.size for atom in self.atoms])
        matrix = refined.transpose(self._matrix_order()).reshape(self.fan_in, self.fan_out)
        return np.flatnonzero(matrix.any(axis=1)), np.flatnonzero(matrix.any(axis=0))

    def spread_rows(self, values: Array) -> Array:
        """[..., fan_in] values placed along the row atoms, broadcastable against the refined tensor."""
        return self._spread(values, self.rows)

    def spread_columns(self, values: Array) -> Array:
        """[..., fan_out] values placed along the column atoms, broadcastable against the refined tensor."""
        return self._spread(values, self.columns)

    def spread_units(self, values: Array) -> Array:
        """[..., units] values placed along the row atoms that are not taps."""
        return self._spread(values, self.units)

    def _spread(self, values: Array, along: tuple[Atom, ...]) -> Array:
        sizes = tuple(atom.size if atom in along else 1 for atom in self.atoms)
        return values.reshape(values.shape[:-1] + sizes)

    def pool(self, tensor: Array, keep: tuple[Atom, ...]) -> Array:
        """Sums of [*shape] over all atoms but those to keep, broadcastable against the refined tensor."""
        summed = tuple(i for i, atom in enumerate(self.atoms) if atom not in keep)
        return jnp.sum(self.refine(tensor), axis=summed, keepdims=True)

    def fold(self, refined: Array) -> Array:
        """[..., *atom sizes] to [..., *shape]."""
        lead = refined.ndim - len(self.atoms)
        return refined.reshape(refined.shape[:lead] + self.shape)

    def refine(self, tensor: Array) -> Array:
        """[..., *shape] to [..., *atom sizes]."""
        lead = tensor.ndim - len(self.shape)
        return tensor.reshape(tensor.shape[:lead] + tuple(atom.size for atom in self.atoms))

    def to_matrix(self, tensor: Array) -> Array:
        """[..., *shape] to [..., fan_in, fan_out]."""
        lead = tensor.ndim - len(self.shape)
        refined = self.refine(tensor)
        matrix = jnp.transpose(refined, (*range(lead), *(lead + i for i in self._matrix_order())))
        return matrix.reshape((*tensor.shape[:lead], self.fan_in, self.fan_out))

    def from_matrix(self, matrix: Array) -> Array:
        """[..., fan_in, fan_out] to [..., *shape]."""
        lead = matrix.ndim - 2
        order = self._matrix_order()
        sizes = tuple(self.atoms[i].size for i in order)
        inverse = sorted(range(len(order)), key=order.__getitem__)
        refined = jnp.transpose(
            matrix.reshape(matrix.shape[:lead] + sizes), (*range(lead), *(lead + i for i in inverse))
        )
        return self.fold(refined)

    def _matrix_order(self) -> tuple[int, ...]:
        position = {atom: i for i, atom in enumerate(self.atoms)}
        return tuple(position[atom] for atom in (*self.rows, *self.columns))
