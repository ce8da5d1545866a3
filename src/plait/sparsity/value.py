"""What is known of one value of a traced program on its way from a layer to the next.

A layer's fan-out units run along one axis of its output. They stay apart through elementwise functions, pooling,
transposes, reshapes, and sums over other axes, so that the slice of a unit is computed from that unit alone. Vectors
that belong to the units (biases, scales, running statistics) run along the same axis and are cut with them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np


class Line(NamedTuple):
    """One axis of one array of the model."""

    leaf: str
    axis: int


@dataclass(frozen=True, eq=False)
class Units:
    """Units of a layer along an axis of a value."""

    layer: str
    """The path of the weight whose columns they are."""
    axis: int
    index: np.ndarray
    """The unit of each entry: 0 1 2 ... after the layer, 0 0 0 1 1 1 ... once places are flattened into the axis."""
    steady: np.ndarray
    """By unit, whether its entries do not depend on the inputs."""

    def same(self, other: "Units") -> bool:
        """Whether the units are the same, entry by entry."""
        return (self.layer, self.axis) == (other.layer, other.axis) and np.array_equal(self.index, other.index)


@dataclass(frozen=True, eq=False)
class Value:
    """A value for some inputs, and what is known of it for all."""

    array: Any
    fixed: bool
    """Whether it does not depend on the inputs."""
    units: Units | None = None
    lines: tuple[frozenset[Line], ...] = ()
    """For each axis of a value computed from the model's arrays alone, what runs along it entry by entry."""
    even: frozenset[int] = frozenset()
    """Axes along which all entries are equal, however long they are."""
    origins: frozenset[str] = frozenset()
    """Layers whose output it is computed from without another layer between."""
    output_of: str | None = None
    """The layer whose output it is, before anything is added to it."""
    leaf: str | None = None
    """The array of the model that it is."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(np.shape(self.array))

    def zero_units(self) -> np.ndarray:
        """By unit, whether all its entries are zero."""
        assert self.units is not None
        nonzero = np.moveaxis(np.asarray(self.array), self.units.axis, 0).reshape(len(self.units.index), -1) != 0
        zero = np.ones(self.units.index.max() + 1, bool)
        zero[self.units.index[nonzero.any(axis=1)]] = False
        return zero

    def moved(self, axes: Mapping[int, int], shape: Iterable[int], even: Iterable[int] = ()) -> "Value":
        """After an operation that takes axis `a` to `axes[a]`, entries in place; `even` are further axes."""
        rank = len(tuple(shape))
        lines = [frozenset[Line]()] * rank
        for axis, where in axes.items():
            if self.lines:
                lines[where] = self.lines[axis]
        units = self.units and replace(self.units, axis=axes[self.units.axis])
        kept = frozenset(axes[axis] for axis in self.even if axis in axes) | frozenset(even)
        return replace(self, units=units, lines=tuple(lines) if self.lines else (), even=kept, leaf=None)


def merged(operands: Iterable[Value], array: Any = None) -> Value:
    """A value of which nothing is known but what it is computed from."""
    operands = list(operands)
    origins = frozenset[str]().union(*(value.origins for value in operands))
    return Value(array, all(value.fixed for value in operands), origins=origins)


@dataclass
class Meeting:
    """A layer that reads units."""

    layer: str
    site: Any
    x: Value
    units: Units
    """Those of x."""
    row_axis: int
    """The axis of the stored weight that they meet."""
    column_axis: int | None
    """The axis of the stored weight that its own units run along."""
    y_axis: int
    """Where they lie in its output."""


@dataclass
class Ledger:
    """What following a program has shown."""

    sizes: dict[str, int] = field(default_factory=dict)
    """Layers whose units can be followed, in program order, and how many units they have."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Layers whose units cannot be cut, and why."""
    cuts: dict[Line, list[Units | None]] = field(default_factory=dict)
    """Units that run along each axis of the model's arrays, None for a use that needs the axis whole."""
    meetings: list[Meeting] = field(default_factory=list)
    biases: dict[str, Line] = field(default_factory=dict)
    """The bias that is added to each layer's output before anything else."""
    outputs: set[str] = field(default_factory=set)
    """Layers that the model's outputs are computed from without another layer between."""

    def keep(self, layer: str, reason: str) -> None:
        """Note why the units of a layer cannot be cut; the first reason counts."""
        self.reasons.setdefault(layer, reason)

    def use(self, lines: Iterable[Line], units: Units | None) -> None:
        """Note a use of axes of the model's arrays."""
        for line in lines:
            self.cuts.setdefault(line, []).append(units)

    def stop(self, operands: Iterable[Value], reason: str, array: Any = None) -> Value:
        """The result of something that units cannot be followed through."""
        operands = list(operands)
        for value in operands:
            if value.units is not None:
                self.keep(value.units.layer, reason)
            self.use(frozenset[Line]().union(*value.lines), None)
        return merged(operands, array)
