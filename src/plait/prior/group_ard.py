"""Group ARD: N(0, 1 / (tau_i gamma_j)) with the best precisions for rows and columns (paper 002, eq. 2).

For any posterior with second moments E2_ij = M_ij^2 + Var_ij, each side is closed form given the other, which the
paper says it is not (MATH 4.2):

    tau_i = m / sum_j gamma_j E2_ij,      gamma_j = n / sum_i tau_i E2_ij

Rows alone (gamma = 1) need one such update, KL = 1/2 sum_i m log(sum_j E2_ij / m) + const - H[q], and so do columns
alone. For both the updates alternate, as Sinkhorn's do; each lowers the KL, and every iterate is a prior of its own, so
that the KL is an upper bound of its minimum from the first. The precisions are not stored, and no gradient goes through
them: where they are the best, the derivative of the KL with respect to them is zero.

tau c and gamma / c are the same prior. `updates="gradient"` stores log tau and log gamma and trains them, as the paper
does.
"""

import math
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, Scalar
from plait.prior.ard import second_moment
from plait.prior.base import Prior, check_moments
from plait.prior.normal import HALF_LOG_2_PI, HeNormal, Normal
from plait.site.layout import Atom, Kept, Layout

ITERATIONS = 20
"""Alternating updates: within rounding of the minimum unless the second moments spread over many orders of magnitude in
no pattern of rows and columns."""


class GroupARD(Prior):
    """A precision for each row (fan-in unit) times one for each column (fan-out unit) of a weight.

    Rows of a convolution are its input channels times its taps; with `channels=True` all taps of a channel are one row.
    """

    rows: bool = eqx.field(static=True, default=True)
    columns: bool = eqx.field(static=True, default=True)
    channels: bool = eqx.field(static=True, default=False)
    updates: Literal["closed_form", "gradient"] = eqx.field(static=True, default="closed_form")
    layout: Layout | None = eqx.field(static=True, default=None)
    row_log_precision: Array | None = None
    """log tau, stored only for updates by gradient."""
    column_log_precision: Array | None = None
    """log gamma."""

    def __check_init__(self):
        if not (self.rows or self.columns):
            raise ValueError("GroupARD: at least one of `rows` and `columns` must be True; for neither use plait.ARD()")
        if self.channels and not self.rows:
            raise ValueError("GroupARD: `channels=True` says what a row is, and `rows` is False")
        if self.updates not in ("closed_form", "gradient"):
            raise ValueError(f"GroupARD: `updates` must be 'closed_form' or 'gradient', got {self.updates!r}")

    def bind(self, weight: Array, layout: Layout) -> Prior:
        if layout.is_vector:
            raise ValueError(
                f"GroupARD needs a weight with rows and columns, and one of shape {weight.shape} (a bias or a scale) "
                'is a vector. Give vectors a prior of their own, prior={"bias": plait.HeNormal(), ...}'
            )
        if self.updates == "closed_form":
            return self._with(layout, None, None)
        # A start at the variance of the given weights, all groups alike.
        square = jnp.mean(jnp.square(weight))
        start = -jnp.log(jnp.where(square > 0, square, 1)) / (self.rows + self.columns)
        sides = [(self.rows, self._row_atoms(layout)), (self.columns, layout.columns)]
        stored = [jnp.full(_shape(layout, atoms), start, weight.dtype) if on else None for on, atoms in sides]
        return self._with(layout, *stored)

    def _with(self, layout: Layout, rows: Array | None, columns: Array | None) -> "GroupARD":
        return GroupARD(self.rows, self.columns, self.channels, self.updates, layout, rows, columns)

    def for_vectors(self) -> Prior:
        return HeNormal()

    def restricted(self, kept: Kept) -> Prior:
        layout = self._bound()
        # An atom that is not a whole axis is kept whole.
        index = [
            kept[atom.axis] if atom.size == layout.shape[atom.axis] else np.arange(atom.size) for atom in layout.atoms
        ]

        def cut(side: Array | None) -> Array | None:
            if side is None:
                return None
            return side[np.ix_(*(i if size > 1 else [0] for i, size in zip(index, side.shape, strict=True)))]

        return self._with(layout.restricted(kept), cut(self.row_log_precision), cut(self.column_log_precision))

    def _row_atoms(self, layout: Layout) -> tuple[Atom, ...]:
        # The rows of a lookup are picked, not summed over: it has no channels, only rows.
        return (layout.units if self.channels else layout.rows) or layout.rows

    def _bound(self) -> Layout:
        if self.layout is None:
            raise ValueError("GroupARD knows no rows and columns before it is bound: `prior.bind(weight, layout)`")
        return self.layout

    def log_precisions(self, posterior: Any, iterations: int = ITERATIONS) -> tuple[Array, Array]:
        """log tau and log gamma, broadcastable against the refined weight; 0 for a side that is not asked for."""
        layout = self._bound()
        if self.updates == "gradient":
            none = jnp.zeros((1,) * len(layout.atoms), posterior.mean.dtype)
            stored = (self.row_log_precision, self.column_log_precision)
            rows, columns = (none if value is None else value for value in stored)
            return rows, columns
        moment = jax.lax.stop_gradient(second_moment(posterior))
        # In units of its mean, so that sums of squares of tiny weights do not underflow.
        unit = jnp.mean(moment)
        refined = layout.refine(moment / unit)
        rows = jnp.ones(_shape(layout, self._row_atoms(layout) if self.rows else ()), refined.dtype)
        columns = jnp.ones(_shape(layout, layout.columns if self.columns else ()), refined.dtype)
        both = self.rows and self.columns

        def best(atoms: tuple[Atom, ...], other: Array) -> Array:
            return (layout.size / math.prod(atom.size for atom in atoms)) / layout.pool(
                layout.fold(refined * other), atoms
            )

        def update(_: Any, sides: tuple[Array, Array]) -> tuple[Array, Array]:
            rows, columns = sides
            rows = best(self._row_atoms(layout), columns) if self.rows else rows
            return rows, best(layout.columns, rows) if self.columns else columns

        rows, columns = jax.lax.fori_loop(0, iterations if both else 1, update, (rows, columns))
        log_unit = jnp.log(unit) / 2 if both else jnp.log(unit)
        return tuple(  # pyright: ignore[reportReturnType]
            jnp.log(value) - (log_unit if on else 0) for value, on in ((rows, self.rows), (columns, self.columns))
        )

    def log_prob(self, weight: Array) -> Scalar:
        raise ValueError(
            f"GroupARD has no density before the variances of its {weight.size} weights are fitted to a posterior: "
            "`prior.fitted(posterior)`"
        )

    def fitted(self, posterior: Any) -> Normal:
        """The prior with its variances for a posterior, fixed."""
        layout = self._bound()
        rows, columns = self.log_precisions(posterior)
        return Normal(layout.fold(jnp.broadcast_to(jnp.exp(-0.5 * (rows + columns)), _shape(layout, layout.atoms))))

    def cross_entropy(self, posterior: Any) -> Scalar | None:
        layout = self._bound()
        rows, columns = self.log_precisions(posterior)
        weighted = jnp.sum(layout.refine(second_moment(posterior)) * jnp.exp(rows + columns))
        log_det = (jnp.mean(rows) + jnp.mean(columns)) * layout.size
        return 0.5 * (weighted - log_det) + layout.size * HALF_LOG_2_PI

    def check(self, posterior: Any) -> None:
        check_moments(self, posterior)
        if self.layout is not None and posterior.mean.shape != self.layout.shape:
            raise ValueError(
                f"GroupARD has rows and columns for a weight of shape {self.layout.shape}, and this family has a prior "
                f"on factors of shape {posterior.mean.shape}; use plait.Normal or plait.Cauchy"
            )

    @property
    def num_params(self) -> int:
        stored = (self.row_log_precision, self.column_log_precision)
        return sum(value.size for value in stored if value is not None)

    def describe(self) -> str:
        row = "channels" if self.channels else "rows"
        sides = [name for name, on in ((row, self.rows), ("columns", self.columns)) if on]
        return f"GroupARD({', '.join(sides + ['gradient'] * (self.updates == 'gradient'))})"


def _shape(layout: Layout, atoms: tuple[Atom, ...]) -> tuple[int, ...]:
    """Of the refined weight, one where an atom is not among the given."""
    return tuple(atom.size if atom in atoms else 1 for atom in layout.atoms)
