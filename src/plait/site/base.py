"""What every site offers: it is linear in its weight, given the activation.

    y = finish(x, linear(x, W)),      linear(x, a W1 + b W2) = a linear(x, W1) + b linear(x, W2)

A site knows no posterior and no randomness. Tensors it is given have the shape of the weight's (windowed) stored
tensor; it replays the weight's layout operations itself.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from plait._typing import Array
from plait.site.layout import Atom, Layout
from plait.site.view import WeightView


@dataclass(frozen=True)
class Operand:
    """Shape and dtype of a value in the traced program."""

    shape: tuple[int, ...]
    dtype: Any


@dataclass(frozen=True)
class ExampleAxis:
    """The axis of a value that runs over examples.

    It has `repeats` entries for each example: `inner` of each example in turn, and so on round all examples until it
    ends. A reshape [B, T, d] -> [B T, d] leaves (repeats, inner) = (T, T), one of [T, B, d] leaves (T, 1).
    """

    axis: int
    repeats: int = 1
    inner: int = 1


LOST = ExampleAxis(-1, 0, 0)
"""A value has one entry or more for each example, but it cannot be said which."""


@dataclass(frozen=True)
class Site(ABC):
    """One use of one weight in the traced program."""

    view: WeightView
    index: int
    """Which operand of the equation the weight is."""
    params: dict[str, Any]
    x: Operand
    """The activation."""
    y: Operand
    """The result."""
    x_examples: ExampleAxis | None = None
    """Where examples lie in x; None where it has no axis over them, or nobody asked."""
    y_examples: ExampleAxis | None = None
    mapped: bool = False
    """Whether it runs under a map over components, with activations of each."""

    kind: ClassVar[str]

    @classmethod
    @abstractmethod
    def match(
        cls, primitive: str, params: dict[str, Any], index: int, view: WeightView, x: Operand, y: Operand
    ) -> "Site | None":
        """The site, if an equation with the weight as operand `index` is one of this kind."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The weight as a matrix."""

    @abstractmethod
    def linear(self, x: Array, tensor: Array) -> Array:
        """The part of y that is linear in the weight."""

    def finish(self, x: Array, linear: Array) -> Array:
        """y from its linear part."""
        del x
        return linear

    def apply(self, x: Array, tensor: Array) -> Array:
        """y for a given weight."""
        return self.finish(x, self.linear(x, tensor))

    def square(self, x: Array) -> Array:
        """The activation with which independent weight variances combine: Var(y) = linear(square(x), Var(W))."""
        return jnp.square(x)

    @property
    @abstractmethod
    def positions(self) -> int:
        """How many times the weight is applied in one call: examples times places."""

    @property
    def flops(self) -> int:
        """Multiply-adds of one call, times two."""
        return 2 * self.positions * self.layout.size

    @property
    def sign_shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shapes of Flipout's signs on x and on y, broadcastable against them; () where a side takes none."""
        return self.x.shape, self.y.shape

    @abstractmethod
    def scale_output(self, y: Array, columns: Array) -> Array:
        """y with each fan-out unit multiplied by `columns`: [fan_out] or [examples, fan_out]."""

    def at(self, x_examples: ExampleAxis | None, y_examples: ExampleAxis | None) -> "Site":
        """The site with the axes that run over examples filled in."""
        return replace(self, x_examples=x_examples, y_examples=y_examples)

    @property
    def x_example_axis(self) -> int | None:
        return None if self.x_examples is None else self.x_examples.axis

    @property
    def y_example_axis(self) -> int | None:
        return None if self.y_examples is None else self.y_examples.axis


@dataclass(frozen=True)
class MatrixSite(Site):
    """A site whose weight has a fan-in side: y = expand(contract(x, P), Q) for W = P^T Q."""

    @property
    def groups(self) -> int:
        """How many disjoint parts of x feed disjoint parts of the columns (1: every column sees the same inputs)."""
        return 1

    @property
    @abstractmethod
    def row_atoms(self) -> tuple[Atom, ...]:
        """Atoms of the fan-in side, in the order seen."""

    @property
    @abstractmethod
    def column_atoms(self) -> tuple[Atom, ...]:
        """Atoms of the fan-out side, in the order seen, which is group by group."""

    @property
    @abstractmethod
    def output_axes(self) -> tuple[int, ...]:
        """The axes of y that run over columns, in the order seen."""

    @abstractmethod
    def contract(self, x: Array, rows: Array) -> Array:
        """x against [r, fan_in] row factors: [..., r] (grouped: [..., groups, r])."""

    @abstractmethod
    def expand(self, features: Array, columns: Array) -> Array:
        """Features of `contract` against [r, fan_out] column factors: the linear part of y."""

    @abstractmethod
    def scale_input(self, x: Array, units: Array) -> Array:
        """x with each input unit multiplied by `units`: [units] or [examples, units]."""

    # Applications of the weight. Rows and columns are in the layout's order, groups in the order seen.

    @abstractmethod
    def inputs_as_rows(self, x: Array) -> Array:
        """What each application of the weight sees: [positions, groups, fan_in]."""

    @abstractmethod
    def outputs_as_columns(self, y: Array) -> Array:
        """What each application of the weight gives: [positions, groups, fan_out / groups]."""

    @property
    def columns_by_group(self) -> np.ndarray:
        """Which columns of the layout belong to each group: [groups, fan_out / groups]."""
        return np.sort(self.columns_seen(), axis=-1)

    def to_groups(self, tensor: Array) -> Array:
        """[..., *shape] to one matrix for each group, [..., groups, fan_in, fan_out / groups]."""
        matrix = take_last(self.layout.to_matrix(tensor), self.columns_by_group.reshape(-1))
        return jnp.moveaxis(matrix.reshape(*matrix.shape[:-1], self.groups, -1), -2, -3)

    def from_groups(self, matrices: Array) -> Array:
        """The inverse of `to_groups`."""
        matrix = jnp.moveaxis(matrices, -3, -2)
        matrix = matrix.reshape(*matrix.shape[:-2], self.layout.fan_out)
        return self.layout.from_matrix(take_last(matrix, np.argsort(self.columns_by_group.reshape(-1))))

    def columns_seen(self) -> np.ndarray:
        """Where each column lies in the layout, in the order seen: [groups, fan_out / groups]."""
        return self.view.stored_index(self.column_atoms).reshape(self.groups, -1)

    def _stored_rows(self, rows: Array) -> Array:
        """[positions, groups, fan_in] from the order seen to that of the layout."""
        return take_last(rows, np.argsort(self.view.stored_index(self.row_atoms)))

    def _stored_columns(self, columns: Array) -> Array:
        """[positions, groups, fan_out / groups] from the order seen to that of the layout."""
        order = np.argsort(self.columns_seen(), axis=-1)
        if (order == order[:1]).all():
            return take_last(columns, order[0])
        return jnp.take_along_axis(columns, jnp.asarray(order)[None], axis=-1)


def take_last(values: Array, order: np.ndarray) -> Array:
    """Entries of the last axis in a given order; nothing is moved where that is their own."""
    return values if np.array_equal(order, np.arange(order.size)) else values[..., order]


def place(values: Array, axes: Sequence[int], ndim: int) -> Array:
    """Array whose dimension d is to stand on axis axes[d] of a larger one, broadcastable against it."""
    order = sorted(range(len(axes)), key=lambda d: axes[d])
    values = jnp.transpose(values, order)
    shape = [1] * ndim
    for d in order:
        shape[axes[d]] = values.shape[order.index(d)]
    return values.reshape(shape)


def along_examples(
    values: Array, ndim: int, examples: ExampleAxis | None, axes: Sequence[int], target: Operand
) -> Array:
    """[1, *sizes] (ndim 1) or [examples, *sizes] values, broadcastable against `target` with the sizes on `axes`."""
    if ndim == 1:
        return place(values[0], axes, len(target.shape))
    if examples is None or examples == LOST:
        raise ValueError(
            f"factors of each example need an axis that runs over examples, and none is known of a value of shape "
            f"{target.shape}; use factors of the whole batch (estimator='weights')"
        )
    if examples.repeats > 1:
        values = jnp.repeat(values, examples.inner, axis=0)
        values = jnp.tile(values, (examples.repeats // examples.inner, *(1 for _ in axes)))
    return place(values, (examples.axis, *axes), len(target.shape))


def prod(values: Sequence[int]) -> int:
    """The product, 1 of nothing."""
    return math.prod(values)
