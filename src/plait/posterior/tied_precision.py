"""Independent Gaussians whose precisions are a rank-k matrix with non-negative factors, above a floor:

    q(W) = prod_ij N(M_ij, 1 / Lambda_ij),     Lambda = e^f + sum_k exp(u_k) exp(v_k)^T

`Tied` ties standard deviations. Precisions are what natural gradient adds up: the floor is the prior's, the rest is
what the data says (`plait.NoisyTied`).
"""

import functools
import math
import operator
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from plait._random import normal
from plait._typing import Array, Float, PRNGKey, Scalar, Weight
from plait.posterior.base import LOG_2_PI_E, Family, Posterior, check_scale, jitter
from plait.posterior.mean_field import MeanField
from plait.site.layout import Kept, Layout


class TiedPrecisionPosterior(Posterior):
    """A mean for each entry, k log-factors for each row and each column, and one number."""

    mean: Weight
    row_log_factor: Float[Array, "k n"]
    """u."""
    column_log_factor: Float[Array, "k m"]
    """v."""
    log_floor: Scalar
    """f."""
    layout: Layout = eqx.field(static=True)

    @property
    def independent(self) -> bool:
        return True

    @property
    def rank(self) -> int:
        return self.row_log_factor.shape[0]

    @property
    def precision(self) -> Array:
        """Lambda, in the weight's shape."""
        spread_rows, spread_columns = self.layout.spread_rows, self.layout.spread_columns
        pairs = zip(self.row_log_factor, self.column_log_factor, strict=True)
        # Each pair is balanced, so that neither factor overflows while their product does not.
        balanced = ((u, v, (jnp.max(u) - jnp.max(v)) / 2) for u, v in pairs)
        terms = [spread_rows(jnp.exp(u - b)) * spread_columns(jnp.exp(v + b)) for u, v, b in balanced]
        return self.layout.fold(functools.reduce(operator.add, terms)) + jnp.exp(self.log_floor)

    @property
    def variance(self) -> Array:
        return 1 / self.precision

    def sample(self, key: PRNGKey) -> Array:
        return self.mean + normal(key, self.mean.shape, self.mean.dtype) / jnp.sqrt(self.precision)

    def log_prob(self, weight: Array) -> Scalar:
        precision = self.precision
        squares = precision * jnp.square(weight - self.mean) - jnp.log(precision)
        return -0.5 * jnp.sum(squares) - 0.5 * (LOG_2_PI_E - 1) * self.mean.size

    def entropy(self) -> Scalar:
        return -0.5 * jnp.sum(jnp.log(self.precision)) + 0.5 * LOG_2_PI_E * self.mean.size

    def restricted(self, kept: Kept) -> Posterior:
        rows, columns = self.layout.sides_of(kept)
        sides = self.row_log_factor[:, rows], self.column_log_factor[:, columns], self.log_floor
        return TiedPrecisionPosterior(self.mean[np.ix_(*kept)], *sides, self.layout.restricted(kept))

    @property
    def num_params(self) -> int:
        return self.mean.size + self.row_log_factor.size + self.column_log_factor.size + 1


@dataclass(frozen=True)
class TiedPrecision(Family):
    """Precisions of rank k above a floor; half of the initial precision is in either."""

    rank: int = 1
    init_scale: float = 0.01
    init_spread: float = 0.1
    """Standard deviation of the noise on the initial log-factors."""

    def __post_init__(self):
        check_scale(self.init_scale, "init_scale")
        if not isinstance(self.rank, int) or self.rank < 1:
            raise ValueError(f"`rank` must be a positive integer, got {self.rank!r}")

    def initialise(self, weight: Array, layout: Layout, *, key: PRNGKey) -> Posterior:
        half = -2 * math.log(self.init_scale) - math.log(2)
        start = 0.5 * (half - math.log(self.rank))
        noise = start + jitter(key, (self.rank * (layout.fan_in + layout.fan_out),), self.init_spread, weight.dtype)
        rows, columns = jnp.split(noise, [self.rank * layout.fan_in])
        sides = rows.reshape(self.rank, -1), columns.reshape(self.rank, -1)
        return TiedPrecisionPosterior(weight, *sides, jnp.asarray(half, weight.dtype), layout)

    def for_vectors(self) -> Family:
        return MeanField(self.init_scale)

    def describe(self) -> str:
        return f"TiedPrecision({self.rank})"
