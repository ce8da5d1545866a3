"""Matrix normal plus independent noise: Cov vec(W) = U (x) V + diag(D) (paper 002, section 3.4).

A draw is the sum of two independent draws, and so is a local draw of the pre-activation. Two forms of D:

    product:  D_ij = r_i^2 c_j^2. The eigenvalues a of diag(r)^-1 U diag(r)^-1 and b of diag(c)^-1 V diag(c)^-1
              diagonalise both terms at once (MATH 4.1):
              log det = m sum_i log r_i^2 + n sum_j log c_j^2 + sum_ij log(1 + a_i b_j)
    full:     any D. The determinant would need the dense matrix; it is bounded from below, so that the entropy is a
              lower bound and the ELBO stays a bound. By the chain rule log det is the sum of the logarithms of the
              variances of each entry (or block) of y + z given those before it, y ~ U (x) V, z ~ diag(D), which is no
              less than given y and z before it one by one:
                  "entries":    log det >= sum_ij log(a_i^2 b_j^2 + D_ij),    a, b the diagonals of the Cholesky
                                factors of U and V, at the cost of the entries
                  "rows":       log det >= sum_i log det(a_i^2 V + diag(D_i)), n determinants of size m: tighter
                  "minkowski":  log det >= N log(exp(log det(U (x) V) / N) + exp(sum log D / N)),   N = nm
              log(e^x + e^y) is convex, so by Jensen Minkowski's <= entries <= rows <= exact.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._random import normal
from plait._typing import Array, Float, PRNGKey, Scalar, Weight
from plait.posterior.base import LOG_2_PI_E, Family, Posterior, independent_noise
from plait.posterior.matrix_normal import MatrixNormal, MatrixNormalPosterior
from plait.posterior.mean_field import MeanField
from plait.site.base import MatrixSite, Site
from plait.site.layout import Kept, Layout

Bound = Literal["entries", "rows", "minkowski"]


class DiagonalNoise(eqx.Module):
    """The standard deviations sqrt(D) of the independent term."""

    @abstractmethod
    def std(self, layout: Layout) -> Array:
        """sqrt(D), in the weight's shape."""

    @abstractmethod
    def output_variance(self, site: Site, x: Array, layout: Layout) -> Array:
        """What it adds to the variance of a pre-activation."""

    @abstractmethod
    def log_det_with(self, kronecker: MatrixNormalPosterior) -> Scalar:
        """log det(U (x) V + diag D), or a lower bound of it."""

    @abstractmethod
    def restricted(self, kept: Kept, layout: Layout) -> "DiagonalNoise":
        """The noise of the entries kept on each axis."""


class FullNoise(DiagonalNoise):
    """Any D."""

    log_scale: Weight
    bound: Bound = eqx.field(static=True, default="entries")

    def std(self, layout: Layout) -> Array:
        del layout
        return jnp.exp(self.log_scale)

    def output_variance(self, site: Site, x: Array, layout: Layout) -> Array:
        del layout
        return site.linear(site.square(x), jnp.exp(2 * self.log_scale))

    def log_det_with(self, kronecker: MatrixNormalPosterior) -> Scalar:
        if self.bound == "minkowski":
            size = self.log_scale.size
            return size * jnp.logaddexp(2 * kronecker.log_det() / size, 2 * jnp.sum(self.log_scale) / size)
        log_std, rows = kronecker.layout.to_matrix(self.log_scale), kronecker.rows.log_conditional_scales()
        if self.bound == "entries":
            columns = kronecker.columns.log_conditional_scales()
            return jnp.sum(jnp.logaddexp(2 * (rows[:, None] + columns[None]), 2 * log_std))
        noise = jax.vmap(jnp.diag)(jnp.exp(2 * log_std))
        blocks = jnp.exp(2 * rows)[:, None, None] * kronecker.columns.covariance()[None] + noise
        return 2 * jnp.sum(jnp.log(jax.vmap(jnp.diagonal)(jnp.linalg.cholesky(blocks))))

    def restricted(self, kept: Kept, layout: Layout) -> DiagonalNoise:
        del layout
        return FullNoise(self.log_scale[np.ix_(*kept)], self.bound)


class ProductNoise(DiagonalNoise):
    """D = r^2 (c^2)^T."""

    row_log_scale: Float[Array, " n"]
    column_log_scale: Float[Array, " m"]

    def std(self, layout: Layout) -> Array:
        rows, columns = jnp.exp(self.row_log_scale), jnp.exp(self.column_log_scale)
        return layout.fold(layout.spread_rows(rows) * layout.spread_columns(columns))

    def output_variance(self, site: Site, x: Array, layout: Layout) -> Array:
        if not isinstance(site, MatrixSite):
            return site.linear(site.square(x), jnp.square(self.std(layout)))
        rows, columns = jnp.exp(2 * self.row_log_scale), jnp.exp(2 * self.column_log_scale)
        features = site.contract(site.square(x), rows[None])
        return site.expand(features.astype(columns.dtype), columns[None])

    def log_det_with(self, kronecker: MatrixNormalPosterior) -> Scalar:
        rows, columns = self.row_log_scale, self.column_log_scale
        left = kronecker.rows.covariance() * jnp.exp(-rows[None] - rows[:, None])
        right = kronecker.columns.covariance() * jnp.exp(-columns[None] - columns[:, None])
        # Round-off can push the smallest eigenvalues of a covariance below zero.
        products = jnp.outer(jnp.linalg.eigvalsh(left).clip(0), jnp.linalg.eigvalsh(right).clip(0))
        diagonal = 2 * (columns.size * jnp.sum(rows) + rows.size * jnp.sum(columns))
        return diagonal + jnp.sum(jnp.log1p(products))

    def restricted(self, kept: Kept, layout: Layout) -> DiagonalNoise:
        rows, columns = layout.sides_of(kept)
        return ProductNoise(self.row_log_scale[rows], self.column_log_scale[columns])


class MatrixNormalPlusDiagonalPosterior(Posterior):
    """The sum of a matrix normal and zero-mean independent noise."""

    kronecker: MatrixNormalPosterior
    noise: DiagonalNoise
    layout: Layout = eqx.field(static=True)

    @property
    def entropy_is(self) -> Literal["exact", "bound"]:
        if isinstance(self.noise, FullNoise):
            # Given a diagonal U (x) V, entries are independent of those before them; given a diagonal U, rows are.
            first, second = self.kronecker.rows.is_diagonal, self.kronecker.columns.is_diagonal
            exact = {"entries": first and second, "rows": first, "minkowski": False}[self.noise.bound]
            return "exact" if exact else "bound"
        return "exact"

    @property
    def independent_outputs(self) -> bool:
        return self.kronecker.independent_outputs

    def local_refusal(self, groups: int) -> str | None:
        return self.kronecker.local_refusal(groups)

    @property
    def mean(self) -> Array:
        return self.kronecker.mean

    @property
    def variance(self) -> Array:
        return self.kronecker.variance + jnp.square(self.noise.std(self.layout))

    def covariance(self) -> Array:
        return self.kronecker.covariance() + jnp.diag(jnp.square(self.noise.std(self.layout)).reshape(-1))

    def sample(self, key: PRNGKey) -> Array:
        first, second = jax.random.split(key)
        independent = self.noise.std(self.layout) * normal(second, self.mean.shape, self.mean.dtype)
        return self.kronecker.sample(first) + independent

    def log_prob(self, weight: Array) -> Scalar:
        """Dense: for layers small enough to form the covariance."""
        residual = (weight - self.mean).reshape(-1)
        lower = jnp.linalg.cholesky(self.covariance())
        whitened = jax.scipy.linalg.solve_triangular(lower, residual, lower=True)
        constant = 0.5 * (LOG_2_PI_E - 1) * residual.size
        return -0.5 * jnp.sum(jnp.square(whitened)) - jnp.sum(jnp.log(jnp.diagonal(lower))) - constant

    def entropy(self) -> Scalar:
        return 0.5 * self.noise.log_det_with(self.kronecker) + 0.5 * LOG_2_PI_E * self.layout.size

    def output_variance(self, site: Site, x: Array) -> Array:
        independent = self.noise.output_variance(site, x, self.layout)
        return self.kronecker.output_variance(site, x) + independent.astype(self.mean.dtype)

    def output_noise(self, site: Site, x: Array, key: PRNGKey) -> Array:
        if self.kronecker.columns.is_diagonal:
            return super().output_noise(site, x, key)
        first, second = jax.random.split(key)
        variance = self.noise.output_variance(site, x, self.layout)
        return self.kronecker.output_noise(site, x, first) + independent_noise(variance, site, second)

    def restricted(self, kept: Kept) -> Posterior:
        kronecker, noise = self.kronecker.restricted(kept), self.noise.restricted(kept, self.layout)
        return MatrixNormalPlusDiagonalPosterior(kronecker, noise, self.layout.restricted(kept))

    @property
    def num_params(self) -> int:
        return self.kronecker.num_params + sum(leaf.size for leaf in jax.tree.leaves(self.noise))


@dataclass(frozen=True)
class MatrixNormalPlusDiagonal(MatrixNormal):
    """Matrix normal plus independent noise; the initial variance is split evenly between the two."""

    diagonal: Literal["full", "product"] = "full"
    bound: Bound = "entries"
    """Of the entropy, for a full diagonal."""

    def __post_init__(self):
        super().__post_init__()
        if self.diagonal not in ("full", "product"):
            raise ValueError(f"`diagonal` must be 'full' or 'product', got {self.diagonal!r}")
        if self.bound not in ("entries", "rows", "minkowski"):
            raise ValueError(f"`bound` must be 'entries', 'rows' or 'minkowski', got {self.bound!r}")

    def initialise(self, weight: Array, layout: Layout, *, key: PRNGKey) -> Posterior:
        half = self.init_scale / 2**0.5
        kronecker = MatrixNormal(self.rows, self.columns, half).initialise(weight, layout, key=key)
        assert isinstance(kronecker, MatrixNormalPosterior)
        if self.diagonal == "full":
            noise: DiagonalNoise = FullNoise(jnp.full_like(weight, math.log(half)), self.bound)
        else:
            root = 0.5 * math.log(half)
            noise = ProductNoise(
                jnp.full((layout.fan_in,), root, weight.dtype), jnp.full((layout.fan_out,), root, weight.dtype)
            )
        return MatrixNormalPlusDiagonalPosterior(kronecker, noise, layout)

    def for_vectors(self) -> Family:
        return MeanField(self.init_scale)

    def describe(self) -> str:
        return f"MatrixNormalPlusDiagonal({self.rows}, {self.columns}, {self.diagonal})"
