"""Entries that are dropped with a fixed probability p, or scaled up: W in {0, 1 / (1 - p)}, E[W] = 1.

As a rank-1 factor over input units this is dropout (Srivastava et al. 2014), drawn at prediction time as at training
time: Monte Carlo dropout. Nothing about it is trained and it has no KL term.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import Array, PRNGKey, Scalar
from plait.posterior.base import Posterior
from plait.site.layout import Layout


class DroppedPosterior(Posterior):
    """Independent switches."""

    layout: Layout = eqx.field(static=True)
    rate: float = eqx.field(static=True)
    """p."""
    dtype: Any = eqx.field(static=True)

    local = False

    @property
    def mean(self) -> Array:
        return jnp.ones(self.layout.shape, self.dtype)

    @property
    def variance(self) -> Array:
        return jnp.full(self.layout.shape, self.rate / (1 - self.rate), self.dtype)

    def sample(self, key: PRNGKey) -> Array:
        return self.samples(key, 1)[0]

    def samples(self, key: PRNGKey, count: int) -> Array:
        kept = jax.random.bernoulli(key, 1 - self.rate, (count, *self.layout.shape))
        return kept.astype(self.dtype) / (1 - self.rate)

    def log_prob(self, weight: Array) -> Scalar:
        kept = jnp.sum((weight > 0).astype(weight.dtype))
        return kept * jnp.log1p(-self.rate) + (weight.size - kept) * jnp.log(self.rate)

    def entropy(self) -> Scalar:
        each = -(self.rate * jnp.log(self.rate) + (1 - self.rate) * jnp.log1p(-self.rate))
        return each * self.layout.size

    def parts(self) -> list[tuple[float, Posterior]]:
        return []

    @property
    def is_constant(self) -> bool:
        return False

    @property
    def num_params(self) -> int:
        return 0
