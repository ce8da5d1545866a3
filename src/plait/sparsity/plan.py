"""Which units go, and what is added to the biases of the layers that read them.

A unit can go for either of two reasons:

    constant    none of its weights is left. Its slice c of everything up to the next layers is a constant; a layer that
                reads it gets c . W_rows added to its bias. With f(0) = 0 and no bias of its own, c = 0.
    unread      no weight of any layer that reads it is left, except for columns that go themselves.

A unit stays where its layer's units cannot be followed to all that reads them, and where c would have to be added to a
bias that is not there or, next to the zero padding of a convolution, differs from place to place.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import jax.numpy as jnp
import numpy as np

from plait._typing import Array
from plait.site import Kept
from plait.sparsity.value import Ledger, Meeting, Units


@dataclass
class Plan:
    """What becomes of a model's arrays."""

    kept: dict[str, Kept] = field(default_factory=dict)
    """For every array that is cut, what is kept on each axis."""
    shifts: dict[str, Array] = field(default_factory=dict)
    """What is added to biases, before they are cut."""
    gone: dict[str, np.ndarray] = field(default_factory=dict)
    """By layer, which units go."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Layers whose units stay although some do nothing, or cannot be cut at all, and why."""


def make_plan(ledger: Ledger, leaves: Mapping[str, Array], live: Mapping[str, np.ndarray]) -> Plan:
    """Decide from what following the program has shown."""
    return _Planner(ledger, leaves, live).plan()


class _Planner:
    def __init__(self, ledger: Ledger, leaves: Mapping[str, Array], live: Mapping[str, np.ndarray]):
        self.ledger, self.leaves, self.live = ledger, leaves, live
        self.reasons = dict(ledger.reasons)
        self.readers: dict[str, list[Meeting]] = {layer: [] for layer in ledger.sizes}
        for meeting in ledger.meetings:
            self.readers[meeting.units.layer].append(meeting)

    def plan(self) -> Plan:
        self._find_conflicts()
        for layer, readers in self.readers.items():
            if not readers:
                self.reasons.setdefault(layer, "nothing that could be followed reads its units")
        followed = [layer for layer in self.ledger.sizes if layer not in self.reasons]
        constant = {layer: self._constant(layer) for layer in followed}
        shifts = self._fold(constant)
        gone: dict[str, np.ndarray] = {}
        # From the outputs back: columns that go themselves read nothing.
        for layer in reversed(followed):
            gone[layer] = _all_but_one(constant[layer] | self._unread(layer, gone), constant[layer])
        return Plan(self._kept(gone), shifts, gone, self.reasons)

    def _kept(self, gone: Mapping[str, np.ndarray]) -> dict[str, Kept]:
        kept: dict[str, Kept] = {}
        for line, (units, *_) in self.ledger.cuts.items():
            if units is None or not gone.get(units.layer, np.zeros(1, bool)).any():
                continue
            axes = list(kept.get(line.leaf, tuple(np.arange(size) for size in self.leaves[line.leaf].shape)))
            axes[line.axis] = np.flatnonzero(~gone[units.layer][units.index])
            kept[line.leaf] = tuple(axes)
        return kept

    def _find_conflicts(self) -> None:
        """An axis of an array that belongs to different units in different places cannot be cut for either."""
        for line, uses in self.ledger.cuts.items():
            if all(_alike(use, uses[0]) for use in uses):
                continue
            for use in uses:
                if use is not None:
                    self.reasons.setdefault(use.layer, f"{line.leaf!r} is used elsewhere without these units")

    def _constant(self, layer: str) -> np.ndarray:
        constant = np.logical_and.reduce([meeting.units.steady for meeting in self.readers[layer]])
        return _all_but_one(constant, np.zeros_like(constant))

    def _unread(self, layer: str, gone: Mapping[str, np.ndarray]) -> np.ndarray:
        read = np.zeros(self.ledger.sizes[layer], bool)
        for meeting in self.readers[layer]:
            live = self.live[meeting.layer]
            if meeting.column_axis is not None and meeting.layer in gone:
                live = np.compress(~gone[meeting.layer], live, axis=meeting.column_axis)
            rows = live.any(axis=tuple(axis for axis in range(live.ndim) if axis != meeting.row_axis))
            read[meeting.units.index[rows]] = True
        return ~read

    # -- constants go into biases --------------------------------------------------------------------------------------

    def _fold(self, constant: dict[str, np.ndarray]) -> dict[str, Array]:
        """What is added to each bias; units whose constant cannot be added are taken out of `constant`."""
        layers = dict.fromkeys(meeting.layer for meeting in self.ledger.meetings)
        while True:
            shifts: dict[str, Array] = {}
            before = {layer: int(units.sum()) for layer, units in constant.items()}
            for layer in layers:
                meetings = [meeting for meeting in self.ledger.meetings if meeting.layer == layer]
                found = self._shift(layer, meetings, constant)
                if isinstance(found, str):
                    for meeting in meetings:
                        self._keep_but_zeros(meeting, constant, found)
                elif found is not None:
                    shifts[self.ledger.biases[layer].leaf] = found
            if before == {layer: int(units.sum()) for layer, units in constant.items()}:
                return shifts

    def _keep_but_zeros(self, meeting: Meeting, constant: dict[str, np.ndarray], reason: str) -> None:
        layer = meeting.units.layer
        if layer in constant:
            lost = constant[layer] & ~meeting.x.zero_units()
            if lost.any():
                constant[layer] = constant[layer] & ~lost
                self.reasons.setdefault(layer, f"{lost.sum()} units stay that have a constant value: {reason}")

    def _shift(self, layer: str, meetings: list[Meeting], constant: Mapping[str, np.ndarray]) -> Array | str | None:
        """What the units that go add to a layer's output, in the shape of its bias; None for nothing, or why not."""
        found: list[tuple[Array, Array]] = []
        for meeting in meetings:
            going = constant.get(meeting.units.layer)
            if going is None or not going.any():
                going = np.zeros(1 + int(meeting.units.index.max()), bool)
            found.append(self._contribution(meeting, going))
        largest = max(float(jnp.max(jnp.abs(y))) for y, _ in found)
        if largest == 0:
            return None
        line = self.ledger.biases.get(layer)
        if line is None or len(self.ledger.cuts[line]) != len(meetings):
            return f"{layer!r} has no bias of its own to take it up"
        # Round-off of a sum is that of its largest terms.
        slack = 100 * max(float(jnp.finfo(y.dtype).eps * jnp.max(size)) for y, size in found)
        first = found[0][0][0]
        if any(float(jnp.max(jnp.abs(y - first[None]))) > slack for y, _ in found):
            return f"{layer!r} sees it differently in different places"
        leaf = self.leaves[line.leaf]
        return first.reshape([-1 if axis == line.axis else 1 for axis in range(leaf.ndim)]).astype(leaf.dtype)

    def _contribution(self, meeting: Meeting, going: np.ndarray) -> tuple[Array, Array]:
        """[places, columns]: what some units add to a layer's output; and what their sizes would."""
        axis, x, weight = meeting.units.axis, meeting.x.array, self.leaves[meeting.layer]
        which = going[meeting.units.index].reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        x = jnp.where(which, x, 0)
        pair = meeting.site.linear(x, weight), meeting.site.linear(jnp.abs(x), jnp.abs(weight))
        first, second = (jnp.moveaxis(y, meeting.y_axis, -1).reshape(-1, y.shape[meeting.y_axis]) for y in pair)
        return first, second


def _alike(first: Units | None, second: Units | None) -> bool:
    """Whether two uses of an axis find the same units along it."""
    if first is None or second is None:
        return first is second
    return first.layer == second.layer and np.array_equal(first.index, second.index)


def _all_but_one(going: np.ndarray, rather: np.ndarray) -> np.ndarray:
    """A layer keeps a unit: layers of none are not what frameworks expect. It keeps one that is not `rather` to go."""
    if not going.all():
        return going
    return going & (np.arange(len(going)) != np.flatnonzero(~rather)[0])
