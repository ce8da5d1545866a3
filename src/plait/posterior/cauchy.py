"""Independent Cauchy entries: the heavy-tailed factors of paper 003. Location stands in for the mean; no variance."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._random import cauchy
from plait._typing import Array, PRNGKey, Scalar, Weight
from plait.posterior.base import Posterior
from plait.site.layout import Layout


class CauchyPosterior(Posterior):
    """A location and a scale gamma = softplus(rho) for each entry."""

    location: Weight
    unconstrained: Weight
    """rho."""
    layout: Layout = eqx.field(static=True)

    local = False

    @property
    def has_moments(self) -> bool:
        return False

    @property
    def mean(self) -> Array:
        return self.location

    @property
    def scale(self) -> Array:
        return jax.nn.softplus(self.unconstrained)

    @property
    def variance(self) -> Array:
        return jnp.full_like(self.location, jnp.inf)

    def sample(self, key: PRNGKey) -> Array:
        return self.location + self.scale * cauchy(key, self.location.shape, self.location.dtype)

    def samples(self, key: PRNGKey, count: int) -> Array:
        shape = (count, *self.location.shape)
        return self.location[None] + self.scale[None] * cauchy(key, shape, self.location.dtype)

    def log_prob(self, weight: Array) -> Scalar:
        standardised = (weight - self.location) / self.scale
        return -jnp.sum(jnp.log(math.pi * self.scale) + jnp.log1p(jnp.square(standardised)))

    def entropy(self) -> Scalar:
        return jnp.sum(jnp.log(4 * math.pi * self.scale))

    @property
    def num_params(self) -> int:
        return 2 * self.location.size
