"""Independent log-Gaussian entries: log W ~ N(mu, sigma^2), so that W > 0. The positive factors of paper 003.

E[W] = exp(mu + sigma^2 / 2),      Var[W] = (exp(sigma^2) - 1) E[W]^2,      H[q] = H[N(mu, sigma^2)] + sum mu
"""

import equinox as eqx
import jax.numpy as jnp

from plait._typing import Array, PRNGKey, Scalar
from plait.posterior.base import Posterior
from plait.posterior.mean_field import MeanFieldPosterior
from plait.site.layout import Layout


class LogNormalPosterior(Posterior):
    """The exponential of independent Gaussians."""

    log: MeanFieldPosterior
    """Of log W."""
    layout: Layout = eqx.field(static=True)

    local = False

    @property
    def mean(self) -> Array:
        return jnp.exp(self.log.mean + 0.5 * self.log.variance)

    @property
    def variance(self) -> Array:
        return jnp.expm1(self.log.variance) * jnp.square(self.mean)

    def sample(self, key: PRNGKey) -> Array:
        return jnp.exp(self.log.sample(key))

    def samples(self, key: PRNGKey, count: int) -> Array:
        return jnp.exp(self.log.samples(key, count))

    def log_prob(self, weight: Array) -> Scalar:
        logarithm = jnp.log(weight)
        return self.log.log_prob(logarithm) - jnp.sum(logarithm)

    def entropy(self) -> Scalar:
        return self.log.entropy() + jnp.sum(self.log.mean)

    @property
    def num_params(self) -> int:
        return self.log.num_params
