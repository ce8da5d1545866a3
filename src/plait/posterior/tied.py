"""The k-tied Normal: independent Gaussians whose standard deviations are a rank-k matrix (papers 000 and 001).

    q(W) = prod_ij N(M_ij, sigma_ij^2),     sigma = sum_k exp(u_k) exp(v_k)^T        (paper 001, eq. 3-4)

The tie is on standard deviations, not variances: k = 1 is the diagonal matrix normal, k >= 2 is no Kronecker product.
The square of a rank-k matrix has rank k (k + 1) / 2:

    sigma^2 = sum_{a <= b} c_ab (e^{u_a} o e^{u_b}) (e^{v_a} o e^{v_b})^T,    c_aa = 1, c_ab = 2        (MATH 1.1)

so the variance of a pre-activation is two skinny products, and neither sigma nor weight-sized noise is ever formed.
"""

import functools
import itertools
import math
import operator
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from plait._random import normal
from plait._typing import Array, Float, PRNGKey, Scalar, Weight
from plait.linalg.sum_log_outer import sum_log_outer
from plait.posterior.base import LOG_2_PI_E, Family, Posterior, check_scale, jitter
from plait.posterior.mean_field import MeanField
from plait.site.base import MatrixSite, Site
from plait.site.layout import Kept, Layout


class TiedPosterior(Posterior):
    """A mean for each entry, k log-scales for each row and each column."""

    mean: Weight
    row_log_scale: Float[Array, "k n"]
    """u."""
    column_log_scale: Float[Array, "k m"]
    """v."""
    layout: Layout = eqx.field(static=True)

    @property
    def independent(self) -> bool:
        return True

    @property
    def rank(self) -> int:
        return self.row_log_scale.shape[0]

    def _factors(self) -> tuple[Array, Array]:
        """e^u and e^v, each pair balanced so that neither overflows while their product does not."""
        balance = (jnp.max(self.row_log_scale, axis=-1) - jnp.max(self.column_log_scale, axis=-1))[:, None] / 2
        return jnp.exp(self.row_log_scale - balance), jnp.exp(self.column_log_scale + balance)

    @property
    def std(self) -> Array:
        rows, columns = self._factors()
        spread_rows, spread_columns = self.layout.spread_rows, self.layout.spread_columns
        terms = [spread_rows(row) * spread_columns(column) for row, column in zip(rows, columns, strict=True)]
        return self.layout.fold(functools.reduce(operator.add, terms))

    @property
    def variance(self) -> Array:
        return jnp.square(self.std)

    def _squared_factors(self) -> tuple[Float[Array, "r n"], Float[Array, "r m"]]:
        """P and Q with sigma^2 = P^T Q and r = k (k + 1) / 2."""
        rows, columns = self._factors()
        pairs = list(itertools.combinations_with_replacement(range(self.rank), 2))
        left = jnp.stack([rows[a] * rows[b] for a, b in pairs])
        right = jnp.stack([(1 if a == b else 2) * columns[a] * columns[b] for a, b in pairs])
        return left, right

    def sample(self, key: PRNGKey) -> Array:
        return self.mean + self.std * normal(key, self.mean.shape, self.mean.dtype)

    def log_prob(self, weight: Array) -> Scalar:
        standardised = (weight - self.mean) / self.std
        return -0.5 * jnp.sum(jnp.square(standardised)) - self._sum_log_std() - 0.5 * (LOG_2_PI_E - 1) * self.mean.size

    def _sum_log_std(self) -> Scalar:
        return sum_log_outer(self.row_log_scale, self.column_log_scale)

    def entropy(self) -> Scalar:
        return self._sum_log_std() + 0.5 * LOG_2_PI_E * self.mean.size

    def total_variance(self) -> Scalar:
        # sum_ij sigma_ij^2 = sum_ab (u_a . u_b) (v_a . v_b): O(k^2 (n + m)).
        rows, columns = self._factors()
        return jnp.sum((rows @ rows.T) * (columns @ columns.T))

    def output_variance(self, site: Site, x: Array) -> Array:
        if not isinstance(site, MatrixSite):
            return super().output_variance(site, x)
        rows, columns = self._squared_factors()
        features = site.contract(site.square(x), rows)
        return site.expand(features.astype(columns.dtype), columns)

    def restricted(self, kept: Kept) -> Posterior:
        rows, columns = self.layout.sides_of(kept)
        sides = self.row_log_scale[:, rows], self.column_log_scale[:, columns]
        return TiedPosterior(self.mean[np.ix_(*kept)], *sides, self.layout.restricted(kept))

    @property
    def num_params(self) -> int:
        return self.mean.size + self.row_log_scale.size + self.column_log_scale.size


@dataclass(frozen=True)
class Tied(Family):
    """The k-tied Normal; `init_scale` is the initial standard deviation of every weight."""

    rank: int = 2
    init_scale: float = 0.01
    init_spread: float = 0.1
    """Standard deviation of the noise on the initial log-scales (paper 000, appendix)."""

    def __post_init__(self):
        check_scale(self.init_scale, "init_scale")
        if not isinstance(self.rank, int) or self.rank < 1:
            raise ValueError(f"`rank` must be a positive integer, got {self.rank!r}")

    def initialise(self, weight: Array, layout: Layout, *, key: PRNGKey) -> Posterior:
        # u = v = (log sigma_0 - log k) / 2 + noise: the k terms add up to sigma_0.
        start = 0.5 * (math.log(self.init_scale) - math.log(self.rank))
        sides = self.rank * (layout.fan_in + layout.fan_out)
        noise = start + jitter(key, (sides,), self.init_spread, weight.dtype)
        rows, columns = jnp.split(noise, [self.rank * layout.fan_in])
        return TiedPosterior(weight, rows.reshape(self.rank, -1), columns.reshape(self.rank, -1), layout)

    def for_vectors(self) -> Family:
        return MeanField(self.init_scale)

    def describe(self) -> str:
        return f"Tied({self.rank})"
