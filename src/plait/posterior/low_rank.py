"""Low rank plus diagonal over all entries of a weight: Cov vec(W) = diag(sigma^2) + sum_a F_a F_a^T.

Unlike a matrix factor, F_a is weight-sized: rank r stores (r + 2) numbers an entry. The determinant lemma gives

    log det = sum log sigma^2 + log det(I + F^T diag(sigma^-2) F),      an r x r determinant,

and a pre-activation is drawn exactly with r more contractions: o = x M + sqrt(x^2 sigma^2) eps + sum_a z_a (x F_a).
"""

import math
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._random import normal
from plait._typing import Array, PRNGKey, Scalar, Weight
from plait.posterior.base import LOG_2_PI_E, Family, Posterior, check_scale, independent_noise, jitter
from plait.posterior.mean_field import MeanField
from plait.site.base import MatrixSite, Site
from plait.site.layout import Kept, Layout


class LowRankPosterior(Posterior):
    """A mean, a standard deviation and r directions."""

    mean: Weight
    log_scale: Weight
    """log sigma."""
    directions: Weight
    """F: [r, *shape]."""
    layout: Layout = eqx.field(static=True)

    @property
    def independent_outputs(self) -> bool:
        return False

    @property
    def variance(self) -> Array:
        return jnp.exp(2 * self.log_scale) + jnp.sum(jnp.square(self.directions), axis=0)

    def covariance(self) -> Array:
        flat = self.directions.reshape(self.directions.shape[0], -1)
        return jnp.diag(jnp.exp(2 * self.log_scale).reshape(-1)) + flat.T @ flat

    def sample(self, key: PRNGKey) -> Array:
        first, second = jax.random.split(key)
        independent = jnp.exp(self.log_scale) * normal(first, self.mean.shape, self.mean.dtype)
        shared = normal(second, self.directions.shape[:1], self.mean.dtype)
        return self.mean + independent + jnp.tensordot(shared, self.directions, 1)

    def _scaled(self) -> Array:
        """F^T diag(sigma^-1): [r, entries]."""
        return (self.directions * jnp.exp(-self.log_scale)[None]).reshape(self.directions.shape[0], -1)

    def _capacitance(self) -> Array:
        """I + F^T diag(sigma^-2) F."""
        scaled = self._scaled()
        return jnp.eye(scaled.shape[0], dtype=scaled.dtype) + scaled @ scaled.T

    def _log_det(self) -> Scalar:
        return 2 * jnp.sum(self.log_scale) + jnp.linalg.slogdet(self._capacitance())[1]

    def log_prob(self, weight: Array) -> Scalar:
        whitened = ((weight - self.mean) * jnp.exp(-self.log_scale)).reshape(-1)
        overlap = self._scaled() @ whitened
        quadratic = whitened @ whitened - overlap @ jnp.linalg.solve(self._capacitance(), overlap)
        return -0.5 * (quadratic + self._log_det() + (LOG_2_PI_E - 1) * self.mean.size)

    def entropy(self) -> Scalar:
        return 0.5 * self._log_det() + 0.5 * LOG_2_PI_E * self.mean.size

    def output_noise(self, site: Site, x: Array, key: PRNGKey) -> Array:
        first, second = jax.random.split(key)
        variance = site.linear(site.square(x), jnp.exp(2 * self.log_scale))
        noise = independent_noise(variance, site, first)
        # One coefficient for each application of the weight and direction, shared by all columns.
        for index in range(self.directions.shape[0]):
            shared = site.linear(x, self.directions[index])
            noise = noise + shared * self._coefficient(site, x, jax.random.fold_in(second, index)).astype(noise.dtype)
        return noise

    def _coefficient(self, site: Site, x: Array, key: PRNGKey) -> Array:
        """Standard normals, one for each application of the weight, constant over its columns."""
        if not isinstance(site, MatrixSite):
            raise TypeError(
                f"a low-rank posterior needs a weight with a fan-in side, and {site.view.path!r} is used as a "
                f"{site.kind}; use plait.MeanField there"
            )
        rows = jnp.ones((1, self.layout.fan_in), self.mean.dtype)
        lead = jax.eval_shape(site.contract, x, rows).shape[:-1]
        own = (*lead[:-1], 1) if site.groups > 1 else lead
        noise = jnp.broadcast_to(normal(key, own, self.mean.dtype), lead)
        return site.expand(noise[..., None], jnp.ones((1, self.layout.fan_out), self.mean.dtype))

    def restricted(self, kept: Kept) -> Posterior:
        inside = np.ix_(*kept)
        directions = self.directions[(slice(None), *inside)]
        return LowRankPosterior(self.mean[inside], self.log_scale[inside], directions, self.layout.restricted(kept))

    @property
    def num_params(self) -> int:
        return 2 * self.mean.size + self.directions.size


@dataclass(frozen=True)
class LowRank(Family):
    """Low rank plus diagonal over all entries of a weight."""

    rank: int = 2
    init_scale: float = 0.01

    def __post_init__(self):
        check_scale(self.init_scale, "init_scale")
        if not isinstance(self.rank, int) or self.rank < 1:
            raise ValueError(f"`rank` must be a positive integer, got {self.rank!r}")

    def initialise(self, weight: Array, layout: Layout, *, key: PRNGKey) -> Posterior:
        # Directions at zero would be a saddle: start them small beside the diagonal.
        spread = 0.1 * self.init_scale / self.rank**0.5
        directions = jitter(key, (self.rank, *weight.shape), spread, weight.dtype)
        return LowRankPosterior(weight, jnp.full_like(weight, math.log(self.init_scale)), directions, layout)

    def for_vectors(self) -> Family:
        return MeanField(self.init_scale)

    def describe(self) -> str:
        return f"LowRank({self.rank})"
