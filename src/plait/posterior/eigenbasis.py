"""Entries that are independent in the eigenbasis of a Kronecker product, each with a variance of its own (MATH 3.1).

    W = M + D Qa (E o sigma) Qs^T,      D = diag(e^d),  Qa and Qs orthogonal,  E standard normal

With sigma_ij^-2 = s_i t_j + 1 this is the exact posterior of a Kronecker-factored Fisher matrix under a normal prior,
which no matrix normal is; with a free sigma it is that of EK-FAC.

    log det Cov = 2 m sum d + 2 sum log sigma
    o = x^T W:  Cov(o) = Qs diag(((Qa^T D x)^2)^T sigma^2) Qs^T        local reparametrisation is exact
"""

import math
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp

from plait._random import normal
from plait._typing import Array, Float, PRNGKey, Scalar, Weight
from plait.linalg.rotation import Rotation
from plait.linalg.stable import safe_sqrt
from plait.posterior.base import LOG_2_PI_E, Family, Posterior, check_scale
from plait.posterior.matrix_normal import in_memory_order
from plait.posterior.mean_field import MeanField
from plait.site.base import MatrixSite, Site
from plait.site.layout import Layout


class EigenbasisPosterior(Posterior):
    """A mean for each entry, a basis for each side, a standard deviation for each pair of axes."""

    mean: Weight
    rows: Rotation
    """Qa."""
    columns: Rotation
    """Qs."""
    row_log_scale: Float[Array, " n"]
    """d."""
    log_std: Float[Array, "n m"]
    """log sigma."""
    layout: Layout = eqx.field(static=True)

    @property
    def independent_outputs(self) -> bool:
        return False

    def local_refusal(self, groups: int) -> str | None:
        return None if groups == 1 else f"its columns are correlated across the {groups} groups of inputs"

    def row_basis(self) -> Array:
        """D Qa."""
        return jnp.exp(self.row_log_scale)[:, None] * self.rows.matrix

    def from_basis(self, coordinates: Array) -> Array:
        """D Qa Z Qs^T for Z [n, m]."""
        return self.row_basis() @ coordinates @ self.columns.matrix.T

    def to_basis(self, matrix: Array) -> Array:
        """(D Qa)^T Z Qs: the transpose of `from_basis`."""
        return self.row_basis().T @ matrix @ self.columns.matrix

    @property
    def variance(self) -> Array:
        inner = jnp.square(self.row_basis()) @ jnp.exp(2 * self.log_std) @ jnp.square(self.columns.matrix).T
        return self.layout.from_matrix(inner)

    def row_variances(self) -> Array:
        # The rows of Qs^2 sum to one.
        return jnp.square(self.row_basis()) @ jnp.sum(jnp.exp(2 * self.log_std), axis=1)

    def total_variance(self) -> Scalar:
        return jnp.sum(self.row_variances())

    def covariance(self) -> Array:
        root = jnp.einsum("ik,kl,jl->ijkl", self.row_basis(), jnp.exp(self.log_std), self.columns.matrix)
        root = root.reshape(self.layout.size, -1)
        return in_memory_order(root @ root.T, self.layout)

    def sample(self, key: PRNGKey) -> Array:
        noise = normal(key, self.log_std.shape, self.mean.dtype)
        return self.mean + self.layout.from_matrix(self.from_basis(noise * jnp.exp(self.log_std)))

    def log_prob(self, weight: Array) -> Scalar:
        residual = self.layout.to_matrix(weight - self.mean) * jnp.exp(-self.row_log_scale)[:, None]
        whitened = self.rows.matrix.T @ residual @ self.columns.matrix * jnp.exp(-self.log_std)
        constant = 0.5 * (LOG_2_PI_E - 1) * self.layout.size
        return -0.5 * jnp.sum(jnp.square(whitened)) - self._half_log_det() - constant

    def _half_log_det(self) -> Scalar:
        return self.layout.fan_out * jnp.sum(self.row_log_scale) + jnp.sum(self.log_std)

    def entropy(self) -> Scalar:
        return self._half_log_det() + 0.5 * LOG_2_PI_E * self.layout.size

    def output_noise(self, site: Site, x: Array, key: PRNGKey) -> Array:
        is_matrix = isinstance(site, MatrixSite)
        why = self.local_refusal(site.groups) if is_matrix else f"it is used as a {site.kind}"
        if not is_matrix or why is not None:
            raise ValueError(
                f"{site.view.path!r} has no direct draw of the pre-activation: {why}; use estimator='weights' there"
            )
        features = site.contract(x, self.row_basis().T).astype(self.mean.dtype)
        std = safe_sqrt(jnp.square(features) @ jnp.exp(2 * self.log_std))
        return site.expand(std * normal(key, std.shape, std.dtype), self.columns.matrix.T).astype(site.y.dtype)

    @property
    def num_params(self) -> int:
        numbers = (self.mean, self.rows.matrix, self.columns.matrix, self.row_log_scale, self.log_std)
        return sum(array.size for array in numbers)


@dataclass(frozen=True)
class Eigenbasis(Family):
    """Independent entries in a rotated basis, which `plait.NoisyKFAC` and `plait.NoisyEKFAC` turn."""

    init_scale: float = 0.01

    def __post_init__(self):
        check_scale(self.init_scale, "init_scale")

    def initialise(self, weight: Array, layout: Layout, *, key: PRNGKey) -> Posterior:
        del key
        n, m = layout.fan_in, layout.fan_out
        return EigenbasisPosterior(
            weight,
            Rotation.identity(n, weight.dtype),
            Rotation.identity(m, weight.dtype),
            jnp.zeros((n,), weight.dtype),
            jnp.full((n, m), math.log(self.init_scale), weight.dtype),
            layout,
        )

    def for_vectors(self) -> Family:
        return MeanField(self.init_scale)

    def describe(self) -> str:
        return "Eigenbasis"
