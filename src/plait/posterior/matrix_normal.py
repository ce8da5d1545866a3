"""The matrix normal MN(M, U, V): Cov(W_ij, W_kl) = U_ik V_jl, U = A A^T over rows, V = B B^T over columns (paper 002).

W = M + A X B^T
log q = -1/2 |A^-1 (W - M) B^-T|^2 - nm/2 log 2 pi - n log|B| - m log|A|
o = M^T x + |A^T x| B eps                             local reparametrisation (MATH 4.1; the printed
                                                      sqrt(x^T A x) is not a variance, erratum E4)
"""

from dataclasses import dataclass
from typing import Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from plait._random import normal
from plait._typing import Array, PRNGKey, Scalar, Weight
from plait.linalg.cholesky import CholeskyFactor
from plait.linalg.diagonal import DiagonalFactor
from plait.linalg.factor import Factor
from plait.linalg.householder import HouseholderFactor
from plait.linalg.stable import safe_sqrt
from plait.posterior.base import LOG_2_PI_E, Family, Posterior, check_scale
from plait.posterior.mean_field import MeanField
from plait.site.base import MatrixSite, Site
from plait.site.layout import Kept, Layout

FactorName = Literal["diagonal", "cholesky", "householder"]

FACTORS: dict[str, type[Factor]] = {
    "diagonal": DiagonalFactor,
    "cholesky": CholeskyFactor,
    "householder": HouseholderFactor,
}


class MatrixNormalPosterior(Posterior):
    """A mean for each entry, a covariance factor for the rows and one for the columns."""

    mean: Weight
    rows: Factor
    """A."""
    columns: Factor
    """B."""
    layout: Layout = eqx.field(static=True)

    @property
    def independent(self) -> bool:
        return self.rows.is_diagonal and self.columns.is_diagonal

    @property
    def independent_outputs(self) -> bool:
        return self.columns.is_diagonal

    def local_refusal(self, groups: int) -> str | None:
        if groups == 1 or self.columns.is_diagonal:
            return None
        return f"its columns are correlated across the {groups} groups of inputs"

    @property
    def variance(self) -> Array:
        rows, columns = self.rows.diagonal(), self.columns.diagonal()
        return self.layout.fold(self.layout.spread_rows(rows) * self.layout.spread_columns(columns))

    def total_variance(self) -> Scalar:
        return jnp.sum(self.rows.diagonal()) * jnp.sum(self.columns.diagonal())

    def row_variances(self) -> Array:
        return self.rows.diagonal() * jnp.sum(self.columns.diagonal())

    def covariance(self) -> Array:
        kronecker = jnp.einsum("ik,jl->ijkl", self.rows.covariance(), self.columns.covariance())
        return in_memory_order(kronecker.reshape(self.layout.size, -1), self.layout)

    def deviation(self, noise: Array) -> Array:
        """A X B^T, in the weight's shape, for X [n, m]."""
        return self.layout.from_matrix(self.rows.times(self.columns.times(noise).T).T)

    def sample(self, key: PRNGKey) -> Array:
        noise = normal(key, (self.layout.fan_in, self.layout.fan_out), self.mean.dtype)
        return self.mean + self.deviation(noise)

    def log_prob(self, weight: Array) -> Scalar:
        residual = self.layout.to_matrix(weight - self.mean)
        whitened = self.columns.solve(self.rows.solve(residual.T).T)
        constant = 0.5 * (LOG_2_PI_E - 1) * self.layout.size
        return -0.5 * jnp.sum(jnp.square(whitened)) - self.log_det() - constant

    def log_det(self) -> Scalar:
        """1/2 log det of the covariance: n log|B| + m log|A|."""
        return self.layout.fan_in * self.columns.log_det() + self.layout.fan_out * self.rows.log_det()

    def entropy(self) -> Scalar:
        return self.log_det() + 0.5 * LOG_2_PI_E * self.layout.size

    def _row_norm_squared(self, site: MatrixSite, x: Array) -> Array:
        """|A^T x|^2 on a last axis of size one."""
        if self.rows.is_diagonal:
            return site.contract(site.square(x), self.rows.diagonal()[None])
        features = site.contract(x, self.rows.matrix().T)
        return jnp.sum(jnp.square(features), axis=-1, keepdims=True)

    def output_variance(self, site: Site, x: Array) -> Array:
        if not isinstance(site, MatrixSite):
            return super().output_variance(site, x)
        norm = self._row_norm_squared(site, x).astype(self.mean.dtype)
        return site.expand(norm, self.columns.diagonal()[None])

    def output_noise(self, site: Site, x: Array, key: PRNGKey) -> Array:
        if self.columns.is_diagonal or not isinstance(site, MatrixSite):
            return super().output_noise(site, x, key)
        if (refusal := self.local_refusal(site.groups)) is not None:
            raise ValueError(
                f"{site.view.path!r} has no direct draw of the pre-activation: {refusal}; use estimator='weights' or "
                "columns='diagonal' there"
            )
        norm = safe_sqrt(self._row_norm_squared(site, x).astype(self.mean.dtype))
        noise = normal(key, (*norm.shape[:-1], self.layout.fan_out), norm.dtype)
        return site.expand(norm * noise, self.columns.matrix().T).astype(site.y.dtype)

    def restricted(self, kept: Kept) -> "MatrixNormalPosterior":
        rows, columns = self.layout.sides_of(kept)
        factors = self.rows.restricted(rows), self.columns.restricted(columns)
        return MatrixNormalPosterior(self.mean[np.ix_(*kept)], *factors, self.layout.restricted(kept))

    @property
    def num_params(self) -> int:
        return self.mean.size + self.rows.num_params + self.columns.num_params


def in_memory_order(covariance: Array, layout: Layout) -> Array:
    """Cov[vec W] with vec in the weight's memory order, from the one with vec row by row of its matrix."""
    half = layout.from_matrix(covariance.reshape(layout.fan_in, layout.fan_out, -1).transpose(2, 0, 1))
    half = half.reshape(layout.fan_in, layout.fan_out, -1).transpose(2, 0, 1)
    return layout.from_matrix(half).reshape(layout.size, layout.size)


@dataclass(frozen=True)
class MatrixNormal(Family):
    """The matrix normal with a structure for the covariance of each side."""

    rows: FactorName = "cholesky"
    columns: FactorName = "cholesky"
    init_scale: float = 0.01

    def __post_init__(self):
        check_scale(self.init_scale, "init_scale")
        for side, name in (("rows", self.rows), ("columns", self.columns)):
            if name not in FACTORS:
                raise ValueError(f"`{side}` must be one of {', '.join(map(repr, FACTORS))}, got {name!r}")

    def factors(self, layout: Layout, dtype) -> tuple[Factor, Factor]:
        """Isotropic starts of both sides; the scale of the product is split evenly (it is only defined jointly)."""
        root = self.init_scale**0.5
        rows = FACTORS[self.rows].isotropic(layout.fan_in, root, dtype)
        return rows, FACTORS[self.columns].isotropic(layout.fan_out, root, dtype)

    def initialise(self, weight: Array, layout: Layout, *, key: PRNGKey) -> Posterior:
        del key
        rows, columns = self.factors(layout, weight.dtype)
        return MatrixNormalPosterior(weight, rows, columns, layout)

    def for_vectors(self) -> Family:
        return MeanField(self.init_scale)

    def describe(self) -> str:
        return f"MatrixNormal({self.rows}, {self.columns})"
