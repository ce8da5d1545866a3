"""Automatic relevance determination: N(0, 1 / alpha_ij), the best precision for each weight (paper 002, section 3.1).

    alpha* = 1 / E2,     E2_ij = M_ij^2 + Var_ij,     KL = 1/2 sum log E2 + 1/2 nm log 2 pi e - H[q]

The precisions are not stored: the KL is its own minimum over them, a function of the posterior alone. It asks only for
second moments, so any family will do: independent entries give 1/2 sum log(1 + mu^2 / sigma^2), a matrix normal gives
1/2 [sum log(M^2 + U_ii V_jj) - n log det V - m log det U] (MATH 4.2).

With a Gamma(a, b) hyperprior the precisions are at their most probable values (MATH 4.2),

    alpha* = (2a - 1) / (E2 + 2b),     -log p(W | alpha*) p(alpha*) = (a - 1/2) (1 - log alpha*) + const

The constant, the hyperprior's normaliser, is left out: Gamma(1, 0) is the case above. a, b -> infinity with
a / b = 1 / s^2 is N(0, s^2).
"""

import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from plait._typing import Array, Scalar
from plait.prior.base import Prior, check_moments
from plait.prior.normal import HALF_LOG_2_PI, Normal


class ARD(Prior):
    """A variance of its own for each weight. `shape` and `rate` are those of a Gamma hyperprior on the precisions."""

    shape: float = eqx.field(static=True, default=1.0)
    """a."""
    rate: float = eqx.field(static=True, default=0.0)
    """b."""

    def __check_init__(self):
        if not 0.5 < self.shape < math.inf:
            raise ValueError(f"ARD: `shape` must be larger than 1/2 for a best precision to exist, got {self.shape!r}")
        if not 0 <= self.rate < math.inf:
            raise ValueError(f"ARD: `rate` must be at least 0, got {self.rate!r}")

    def log_precision(self, posterior: Any) -> Array:
        """log alpha*, in the weight's shape."""
        return math.log(2 * self.shape - 1) - jnp.log(second_moment(posterior) + 2 * self.rate)

    def log_prob(self, weight: Array) -> Scalar:
        raise ValueError(
            f"ARD has no density before its {weight.size} variances are fitted to a posterior: "
            "`prior.fitted(posterior)`"
        )

    def fitted(self, posterior: Any) -> Normal:
        """The prior with its best variances for a posterior, fixed."""
        return Normal(jnp.exp(-0.5 * self.log_precision(posterior)))

    def cross_entropy(self, posterior: Any) -> Scalar | None:
        log_precision = self.log_precision(posterior)
        half = self.shape - 0.5
        return half * (log_precision.size - jnp.sum(log_precision)) + log_precision.size * HALF_LOG_2_PI

    def check(self, posterior: Any) -> None:
        check_moments(self, posterior)

    def describe(self) -> str:
        return "ARD" if (self.shape, self.rate) == (1, 0) else f"ARD(shape={self.shape:g}, rate={self.rate:g})"


def second_moment(posterior: Any) -> Array:
    """E[W^2] entry by entry, kept off zero: squares of small numbers underflow."""
    moment = jnp.square(posterior.mean) + posterior.variance
    return jnp.maximum(moment, jnp.finfo(moment.dtype).tiny)
