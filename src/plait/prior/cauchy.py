"""Cauchy(l, g) entries. Against a Cauchy posterior the KL is closed form (Chyzak & Nielsen 2019, MATH 2.3):

    KL = log[((g_q + g_p)^2 + (l_q - l_p)^2) / (4 g_q g_p)]

so the cross-entropy is log[pi ((g_q + g_p)^2 + (l_q - l_p)^2) / g_p], since H[q] = log(4 pi g_q).
"""

import math
from typing import Any

import jax.numpy as jnp

from plait._typing import Array, Scalar
from plait.posterior.cauchy import CauchyPosterior
from plait.prior.base import Prior, check_positive


class Cauchy(Prior):
    """Heavy-tailed entries around a location."""

    scale: float = 1.0
    location: float = 0.0

    def __check_init__(self):
        check_positive(self.scale, "scale", "Cauchy")

    def log_prob(self, weight: Array) -> Scalar:
        standardised = (weight - self.location) / self.scale
        return -jnp.sum(jnp.log1p(jnp.square(standardised))) - weight.size * math.log(math.pi * self.scale)

    def cross_entropy(self, posterior: Any) -> Scalar | None:
        if not isinstance(posterior, CauchyPosterior):
            return None
        gap = jnp.square(posterior.scale + self.scale) + jnp.square(posterior.location - self.location)
        return jnp.sum(jnp.log(gap)) + posterior.location.size * math.log(math.pi / self.scale)

    def describe(self) -> str:
        return f"Cauchy({self.scale:g})"
