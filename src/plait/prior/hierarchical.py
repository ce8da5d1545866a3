"""N(m, v) with v ~ InverseGamma(a, b), one v for all entries, at its most probable value (MATH 2.3, "EB").

    v* = (S + 2b) / (n + 2a + 2),      S = sum Var + sum (M - m)^2
    KL = KL(q || N(m, v*)) - log InverseGamma(v*; a, b)

The n entries are all that one posterior holds: with K components of factors, those of all K, which share one v. A KL
that is averaged over components is then 1 / K of the above, hyperprior and all.

v is not stored: the KL is its own minimum over it. `mean="posterior"` ties m to the posterior's means, so that only the
spread is paid for.
"""

import math
from typing import Any, Literal

import equinox as eqx
import jax.numpy as jnp

from plait._typing import Array, Scalar
from plait.prior.base import Prior, check_moments
from plait.prior.normal import HALF_LOG_2_PI, Normal


class HierarchicalNormal(Prior):
    """A normal prior that finds its own variance. `shape` and `rate` are those of the hyperprior, a and b."""

    mean: float | Literal["posterior"] = eqx.field(static=True, default=0.0)
    shape: float = eqx.field(static=True, default=2.01)
    rate: float = eqx.field(static=True, default=0.101)

    def __check_init__(self):
        if isinstance(self.mean, str) and self.mean != "posterior":
            raise ValueError(f"HierarchicalNormal: `mean` must be a number or 'posterior', got {self.mean!r}")
        for name, value in (("shape", self.shape), ("rate", self.rate)):
            if not 0 < value < math.inf:
                raise ValueError(f"HierarchicalNormal: `{name}` must be positive and finite, got {value!r}")

    def best_variance(self, posterior: Any) -> Scalar:
        """v*."""
        return (self._spread(posterior) + 2 * self.rate) / (posterior.mean.size + 2 * self.shape + 2)

    def _spread(self, posterior: Any) -> Scalar:
        if isinstance(self.mean, str):
            return posterior.total_variance()
        return jnp.sum(jnp.square(posterior.mean - self.mean)) + posterior.total_variance()

    def fitted(self, posterior: Any) -> Normal:
        """The prior with its best variance for a posterior, fixed."""
        mean = posterior.mean if isinstance(self.mean, str) else self.mean
        return Normal(jnp.sqrt(self.best_variance(posterior)), mean)

    def log_prob(self, weight: Array) -> Scalar:
        raise ValueError(
            f"HierarchicalNormal has no density before the variance of {weight.size} entries is fitted to a "
            "posterior: `prior.fitted(posterior)`"
        )

    def cross_entropy(self, posterior: Any) -> Scalar | None:
        variance, size = self.best_variance(posterior), posterior.mean.size
        normal = size * (0.5 * jnp.log(variance) + HALF_LOG_2_PI) + self._spread(posterior) / (2 * variance)
        constant = math.lgamma(self.shape) - self.shape * math.log(self.rate)
        return normal + constant + (self.shape + 1) * jnp.log(variance) + self.rate / variance

    def check(self, posterior: Any) -> None:
        check_moments(self, posterior)

    def describe(self) -> str:
        return f"HierarchicalNormal(mean={self.mean})"
