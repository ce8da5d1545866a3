"""Flipout: one draw of the weight noise, decorrelated between examples by random signs (Wen et al. 2018).

    y = x . M + ((x o s) . Delta) o t,      Delta = W - M, s and t independent +-1 for each example

Delta o (s t^T) has the distribution of Delta when its entries are independent and symmetric, and only then: a family
with correlated entries is refused.
"""

import jax

from plait._random import signs
from plait._typing import Array, PRNGKey
from plait.estimator.base import Estimator
from plait.posterior.base import Posterior
from plait.site.base import Site


class Flipout(Estimator):
    """Exact for each example, and for all places of one example together."""

    name = "flipout"

    def refusal(self, posterior: Posterior, groups: int = 1) -> str | None:
        del groups
        if posterior.independent:
            return None
        return "random signs would destroy the correlation between its entries"

    def apply(self, posterior: Posterior, site: Site, x: Array, key: PRNGKey) -> Array:
        noise_key, in_key, out_key = jax.random.split(key, 3)
        deviation = posterior.sample(noise_key) - posterior.mean
        x_shape, y_shape = site.sign_shapes
        flipped = x * signs(in_key, x_shape, x.dtype) if x_shape else x
        noise = site.linear(flipped, deviation)
        noise = noise * signs(out_key, y_shape, noise.dtype)
        return site.finish(x, site.linear(x, posterior.mean) + noise)
