"""Which bias shifts which layer: y = W^T a + b is (W, b)^T (a, 1), one matrix with a homogeneous coordinate.

The result of a contraction or convolution is followed through operations that only move entries about, up to the bias
that is added to it, if nothing else uses it on the way.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from plait._compat import bind_equation
from plait._typing import Array
from plait.site import Site
from plait.site.base import MatrixSite
from plait.site.elementwise import BiasSite


@dataclass(frozen=True)
class Output:
    """The result of a site whose columns lie on one axis, in the order of its layout."""

    value: Array
    path: str
    axis: int | None
    """None once the columns are spread over several axes."""

    def settle(self) -> Array:
        """The plain result."""
        return self.value

    def moved(self, equation: Any) -> "Output":
        """After a transpose, a reshape, or axes of size one put in or taken out."""
        value = bind_equation(equation, [self.value])[0]
        return Output(value, self.path, None if self.axis is None else _follow(self.axis, equation, self.value, value))

    def shifted_by(self, site: Site) -> bool:
        """Whether a site adds a number to each column, in the order of the columns."""
        if self.axis is None or not isinstance(site, BiasSite) or site.view.window is not None or site.view.flipped:
            return False
        spread = [axis for axis, dim in enumerate(site.view.dims) if math.prod(atom.size for atom in dim) > 1]
        in_order = site.view.atoms == tuple(atom for dim in site.view.dims for atom in dim)
        # A bias of one entry has no axis to tell; that of one column it is.
        alone = not spread and self.value.shape[self.axis] == 1
        return in_order and (spread == [self.axis] or alone) and site.layout.size == self.value.shape[self.axis]


def output_of(site: Site, value: Array) -> Array | Output:
    """The result of a site as one that a bias may shift."""
    if not isinstance(site, MatrixSite) or site.groups > 1 or len(site.output_axes) != 1:
        return value
    seen = site.columns_seen().reshape(-1)
    return Output(value, site.view.path, site.output_axes[0]) if np.array_equal(seen, np.arange(seen.size)) else value


def _follow(axis: int, equation: Any, before: Array, after: Array) -> int | None:
    """Where an axis goes."""
    if equation.primitive.name == "transpose":
        return tuple(int(i) for i in equation.params["permutation"]).index(axis)
    # The entries stay in order: the axis is where as many entries lie before it.
    lead, size = math.prod(before.shape[:axis]), before.shape[axis]
    found = [i for i in range(after.ndim) if math.prod(after.shape[:i]) == lead and after.shape[i] == size]
    return found[-1] if found else None
