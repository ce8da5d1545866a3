"""Independent Gaussians: q(W) = prod_ij N(M_ij, sigma_ij^2), sigma = exp(rho) or softplus(rho)."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._random import normal
from plait._typing import Array, PRNGKey, Scalar, Weight
from plait.linalg.stable import inverse_softplus
from plait.posterior.base import LOG_2_PI_E, Family, Posterior, check_scale, jitter
from plait.posterior.point import view_layout
from plait.site.layout import Kept, Layout
from plait.site.view import WeightView

Transform = Literal["exp", "softplus"]


class MeanFieldPosterior(Posterior):
    """A mean and a standard deviation for each entry."""

    mean: Weight
    unconstrained: Weight
    """rho: log sigma, or the inverse softplus of sigma."""
    layout: Layout = eqx.field(static=True)
    transform: Transform = eqx.field(static=True, default="exp")
    max_scale: float | None = eqx.field(static=True, default=None)
    """A cap on sigma, if any."""

    @property
    def independent(self) -> bool:
        return True

    @property
    def std(self) -> Array:
        std = jnp.exp(self.unconstrained) if self.transform == "exp" else jax.nn.softplus(self.unconstrained)
        return std if self.max_scale is None else jnp.minimum(std, self.max_scale)

    @property
    def log_std(self) -> Array:
        log_std = self.unconstrained
        if self.transform == "softplus":
            # softplus(rho) underflows for very negative rho, where its logarithm is rho.
            low = self.unconstrained < -20
            log_std = jnp.where(low, log_std, jnp.log(jax.nn.softplus(jnp.where(low, 0, log_std))))
        return log_std if self.max_scale is None else jnp.minimum(log_std, math.log(self.max_scale))

    @property
    def variance(self) -> Array:
        return jnp.square(self.std)

    def sample(self, key: PRNGKey) -> Array:
        return self.mean + self.std * normal(key, self.mean.shape, self.mean.dtype)

    def samples(self, key: PRNGKey, count: int) -> Array:
        # From one key: a key for each draw would be split first, and its bits could not be one pass over all of them.
        noise = normal(key, (count, *self.mean.shape), self.mean.dtype)
        return self.mean[None] + self.std[None] * noise

    def log_prob(self, weight: Array) -> Scalar:
        standardised = (weight - self.mean) / self.std
        return -jnp.sum(0.5 * jnp.square(standardised) + self.log_std + 0.5 * (LOG_2_PI_E - 1))

    def entropy(self) -> Scalar:
        return jnp.sum(self.log_std) + 0.5 * LOG_2_PI_E * self.mean.size

    def with_std(self, std: Array) -> "MeanFieldPosterior":
        """The same means with other standard deviations."""
        return replace(self, unconstrained=unconstrain(std, self.transform).astype(self.unconstrained.dtype))

    def windowed(self, view: WeightView) -> Posterior | None:
        cut = view.cut
        layout = view_layout(view)
        return MeanFieldPosterior(cut(self.mean), cut(self.unconstrained), layout, self.transform, self.max_scale)

    def restricted(self, kept: Kept) -> Posterior:
        mean, unconstrained = (value[np.ix_(*kept)] for value in (self.mean, self.unconstrained))
        layout = self.layout.restricted(kept)
        return MeanFieldPosterior(mean, unconstrained, layout, self.transform, self.max_scale)

    @property
    def num_params(self) -> int:
        return 2 * self.mean.size


def unconstrain(std: Array, transform: Transform) -> Array:
    """rho for standard deviations."""
    return jnp.log(std) if transform == "exp" else inverse_softplus(std)


@dataclass(frozen=True)
class MeanField(Family):
    """Independent Gaussian entries; `init_scale` is their initial standard deviation."""

    init_scale: float = 0.01
    transform: Transform = "exp"
    max_scale: float | None = None
    init_spread: float = 0.1
    """Relative standard deviation of the initial standard deviations (paper 001: N(0.01, 0.001))."""

    def __post_init__(self):
        check_scale(self.init_scale, "init_scale")
        if self.transform not in ("exp", "softplus"):
            raise ValueError(f"`transform` must be 'exp' or 'softplus', got {self.transform!r}")

    def initialise(self, weight: Array, layout: Layout, *, key: PRNGKey) -> Posterior:
        noise = jnp.clip(jitter(key, weight.shape, self.init_spread, weight.dtype), -0.9, 0.9)
        std = self.init_scale * (1 + noise)
        return MeanFieldPosterior(weight, unconstrain(std, self.transform), layout, self.transform, self.max_scale)

    def describe(self) -> str:
        return "MeanField"
