"""log W ~ N(m, s^2), for positive factors (paper 003). Against a log-Gaussian posterior the KL is that of the logs:

KL(LogN(mu, sigma^2) || LogN(m, s^2)) = KL(N(mu, sigma^2) || N(m, s^2))
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp

from plait._typing import Array, Scalar
from plait.posterior.log_normal import LogNormalPosterior
from plait.prior.base import Prior, check_positive
from plait.prior.normal import Normal


class LogNormal(Prior):
    """Positive entries; `scale` is the standard deviation and `location` the mean of their logarithm."""

    scale: float = eqx.field(static=True, default=1.0)
    location: float = eqx.field(static=True, default=0.0)

    def __check_init__(self):
        check_positive(self.scale, "scale", "LogNormal")

    def _of_log(self) -> Normal:
        return Normal(self.scale, mean=self.location)

    def log_prob(self, weight: Array) -> Scalar:
        logarithm = jnp.log(weight)
        return self._of_log().log_prob(logarithm) - jnp.sum(logarithm)

    def cross_entropy(self, posterior: Any) -> Scalar | None:
        if not isinstance(posterior, LogNormalPosterior):
            return None
        cross = self._of_log().cross_entropy(posterior.log)
        assert cross is not None
        return cross + jnp.sum(posterior.log.mean)

    def check(self, posterior: Any) -> None:
        if not isinstance(posterior, LogNormalPosterior):
            raise ValueError(
                f"KL({type(posterior).__name__} || LogNormal) is infinite: LogNormal has no mass below 0. Give it to "
                "positive factors, `plait.RankOne(family='lognormal')`"
            )

    def describe(self) -> str:
        return f"LogNormal({self.scale:g})"
