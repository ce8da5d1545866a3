"""A deterministic weight: q(W) = delta(W - M). Trained, never random, and without a KL term."""

from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, PRNGKey, Scalar, Weight
from plait.posterior.base import Family, Posterior
from plait.site.base import Site
from plait.site.layout import Kept, Layout
from plait.site.view import WeightView


class PointPosterior(Posterior):
    """All mass on one value."""

    mean: Weight
    layout: Layout = eqx.field(static=True)

    @property
    def independent(self) -> bool:
        return True

    @property
    def variance(self) -> Array:
        return jnp.zeros_like(self.mean)

    def sample(self, key: PRNGKey) -> Array:
        del key
        return self.mean

    def log_prob(self, weight: Array) -> Scalar:
        return jnp.where(jnp.all(weight == self.mean), jnp.inf, -jnp.inf).astype(self.mean.dtype)

    def entropy(self) -> Scalar:
        return jnp.asarray(-jnp.inf, self.mean.dtype)

    def parts(self) -> list[tuple[float, Posterior]]:
        # By convention: a trained constant has no KL term.
        return []

    def output_noise(self, site: Site, x: Array, key: PRNGKey) -> Array:
        del x, key
        return jnp.zeros(site.y.shape, site.y.dtype)

    def windowed(self, view: WeightView) -> Posterior | None:
        return PointPosterior(view.cut(self.mean), view_layout(view))

    def restricted(self, kept: Kept) -> Posterior:
        return PointPosterior(self.mean[np.ix_(*kept)], self.layout.restricted(kept))

    @property
    def num_params(self) -> int:
        return self.mean.size


def view_layout(view: WeightView) -> Layout:
    """A stand-in layout for a window, whose sides only the site knows."""
    return Layout.vector(view.shape)


@dataclass(frozen=True)
class Point(Family):
    """A deterministic weight."""

    def initialise(self, weight: Array, layout: Layout, *, key: PRNGKey) -> Posterior:
        del key
        return PointPosterior(weight, layout)

    @property
    def default_estimator(self) -> str:
        return "mean"

    def describe(self) -> str:
        return "Point"
