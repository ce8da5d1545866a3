"""Natural gradient with independent entries whose precisions are tied: noisy Adam in less memory than Adam.

    Lambda = U V^T + P,     U [n, k] and V [m, k] >= 0,     instead of a number for each entry

With F = N / lambda E[g^2], U V^T is to minimise the divergence sum_ij F log(F / UV) - F + UV, which for k = 1 has the
closed form (row sums) (column sums)^T / sum: Adafactor's, whose rows and columns are moving averages of these sums. For
k > 1 it is found by the steps of expectation maximisation, taken as the moving average goes on (online EM, Cappe and
Moulines 2009): with the shares q_ijk = U_ik V_jk / (U V^T)_ij,

    r_k <- (1 - b) r_k + b sum_j F_ij q_ijk,  c_k <- (1 - b) c_k + b sum_i F_ij q_ijk,  U_k V_k^T = r_k c_k^T / sum r_k

r_k and c_k are the row and column sums of U_k V_k^T, so nothing is kept beside the posterior. Row and column sums of
Lambda come to rest at those of noisy Adam, for every k. Single entries do where E[g^2] = sum over examples of
(a^2) (g^2)^T has that rank: k = 1 where the squares of inputs and of gradients are uncorrelated, which is the diagonal
of the K-FAC assumption. Elsewhere an entry's precision is wrong by what the divergence leaves; q is no longer the
optimal mean field.
"""

import functools
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp

from plait._typing import Array
from plait.model import BayesianModel
from plait.natural.curvature import Curvature, Look, Priors
from plait.natural.diagonal import DiagonalCurvature, mean_square
from plait.natural.fisher import Fisher
from plait.natural.method import NaturalGradient
from plait.natural.prior import gaussian_priors, mean_of, variance_of
from plait.posterior import TiedPrecisionPosterior

Values = dict[str, TiedPrecisionPosterior]


class Sums(NamedTuple):
    """Row and column sums of each of k terms, [k, n] and [k, m]."""

    rows: Array
    columns: Array


def shares(value: TiedPrecisionPosterior, squares: Array) -> Sums:
    """How the row and column sums of a matrix [n, m] divide up between the terms of a posterior."""
    # By logarithms: what a term that has died out leaves to the others is a share of one, not of zero.
    terms = [
        rows[:, None] + columns[None, :]
        for rows, columns in zip(value.row_log_factor, value.column_log_factor, strict=True)
    ]
    total = functools.reduce(jnp.logaddexp, terms)
    parts = [squares * jnp.exp(term - total) for term in terms]
    return Sums(*(jnp.stack([jnp.sum(part, axis=axis) for part in parts]) for axis in (1, 0)))


def absorbed(value: TiedPrecisionPosterior, seen: Sums, rate: Any) -> TiedPrecisionPosterior:
    """With sums moved by `rate` towards others."""
    rows, columns = jnp.exp(value.row_log_factor), jnp.exp(value.column_log_factor)
    old = Sums(
        rows * jnp.sum(columns, axis=1, keepdims=True),
        columns * jnp.sum(rows, axis=1, keepdims=True),
    )
    tiny = jnp.finfo(rows.dtype).tiny
    moved = [jnp.maximum((1 - rate) * a + rate * b, tiny) for a, b in zip(old, seen, strict=True)]
    half_total = 0.5 * jnp.log(jnp.sum(moved[0], axis=1, keepdims=True))
    return replace(
        value, row_log_factor=jnp.log(moved[0]) - half_total, column_log_factor=jnp.log(moved[1]) - half_total
    )


def _waves(rank: int, size: int, dtype: Any) -> Array:
    """Terms that start alike would stay alike: half a wave more in each, and none in the first."""
    wave, place = jnp.arange(rank, dtype=dtype), jnp.arange(size, dtype=dtype)
    return 0.5 * (jnp.cos(jnp.pi / size * jnp.outer(wave, place + 0.5)) - (wave == 0).astype(dtype)[:, None])


@dataclass(frozen=True)
class TiedCurvature(Curvature):
    """Independent entries of matrices, tied."""

    rank: int = 1

    def find(self, bnn: BayesianModel) -> Values | None:
        found = {path: bnn.posteriors.get(path) for path in self.paths}
        if any(not isinstance(one, TiedPrecisionPosterior) or one.rank != self.rank for one in found.values()):
            return None
        return found  # pyright: ignore[reportReturnType]

    def make(self, bnn: BayesianModel) -> Values:
        priors, layouts = gaussian_priors(bnn), {row.path: row.layout for row in bnn.sites}

        def one(path: str) -> TiedPrecisionPosterior:
            mean, layout, floor = mean_of(bnn, path), layouts[path], priors[path].precision
            precision = mean.size / jnp.sum(variance_of(bnn, path))
            data = jnp.maximum(precision - floor, 1e-6 * precision)
            rows, columns = (
                0.5 * jnp.log(data / self.rank) + _waves(self.rank, size, mean.dtype)
                for size in (layout.fan_in, layout.fan_out)
            )
            return TiedPrecisionPosterior(mean, rows, columns, jnp.log(floor), layout)

        return {path: one(path) for path in self.paths}

    def describe(self) -> str:
        return f"TiedPrecision({self.rank})"

    def start(self, value: Values, priors: Priors) -> None:
        del value, priors

    def summarise(self, look: Look, value: Values) -> dict[str, Sums]:
        return {path: shares(one, one.layout.to_matrix(mean_square(look, path, None))) for path, one in value.items()}

    def absorb(
        self, value: Values, state: None, seen: Any, priors: Priors, strength: Any, rate: Any
    ) -> tuple[Values, None]:
        def one(path: str, posterior: TiedPrecisionPosterior) -> TiedPrecisionPosterior:
            moved = absorbed(posterior, Sums(*(strength * sums for sums in seen[path])), rate)
            floor = jnp.log(priors[path].precision).astype(moved.log_floor.dtype)
            return replace(moved, log_floor=floor)

        return {path: one(path, posterior) for path, posterior in value.items()}, state

    def direction(
        self, value: Values, state: None, gradients: dict[str, Array], strength: Any, ridge: Any
    ) -> dict[str, Array]:
        del state
        return {path: strength * gradients[path] / (one.precision + ridge) for path, one in value.items()}

    def move(self, value: Values, steps: dict[str, Array]) -> Values:
        return {path: replace(posterior, mean=posterior.mean + steps[path]) for path, posterior in value.items()}


class NoisyTied(NaturalGradient):
    """Natural gradient with tied precisions: posterior and state are two numbers for each weight, where Adam has three.

    `rank` is k. Biases, and weights whose prior differs from entry to entry, have a precision for each entry.
    """

    rank: int = eqx.field(static=True, default=1)
    fisher: Fisher = eqx.field(static=True, default="empirical")
    statistics_every: int = eqx.field(static=True, default=10)
    inverse_every: int = eqx.field(static=True, default=1)

    def __check_init__(self):
        if isinstance(self.rank, bool) or not isinstance(self.rank, int) or self.rank < 1:
            raise ValueError(f"`rank` must be a positive integer, got {self.rank!r}")

    def curvatures(self, bnn: BayesianModel) -> tuple[tuple[Curvature, ...], dict[str, str]]:
        priors, layouts = gaussian_priors(bnn), {row.path: row.layout for row in bnn.sites}
        tied = tuple(path for path, prior in priors.items() if prior.is_scalar and not layouts[path].is_vector)
        rest = tuple(path for path in priors if path not in tied)
        found = (TiedCurvature(tied, self.rank),) if tied else ()
        return (*found, *((DiagonalCurvature.over(bnn, rest),) if rest else ())), {}
