"""The scale mixture of Blundell et al. 2015: pi N(0, s1^2) + (1 - pi) N(0, s2^2). Its KL has no closed form."""

import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from plait._typing import Array, Scalar
from plait.prior.base import Prior, check_moments, check_positive


class ScaleMixture(Prior):
    """A wide normal with probability `weight`, a narrow one otherwise."""

    wide: float = eqx.field(static=True, default=1.0)
    narrow: float = eqx.field(static=True, default=0.0025)
    weight: float = eqx.field(static=True, default=0.5)

    def __check_init__(self):
        check_positive(self.wide, "wide", "ScaleMixture")
        check_positive(self.narrow, "narrow", "ScaleMixture")
        if not 0 < self.weight < 1:
            raise ValueError(f"ScaleMixture: `weight` must lie in (0, 1), got {self.weight!r}")

    def check(self, posterior: Any) -> None:
        check_moments(self, posterior)

    def log_prob(self, weight: Array) -> Scalar:
        def log_normal(scale: float) -> Array:
            return -0.5 * jnp.square(weight / scale) - math.log(scale) - 0.5 * math.log(2 * math.pi)

        wide = math.log(self.weight) + log_normal(self.wide)
        narrow = math.log1p(-self.weight) + log_normal(self.narrow)
        return jnp.sum(jnp.logaddexp(wide, narrow))

    def describe(self) -> str:
        return f"ScaleMixture({self.wide:g}, {self.narrow:g})"
