"""MC dropout as a posterior of the weights: w_ij = m_ij z_i / (1 - p), z_i ~ Bernoulli(1 - p) (Gal & Ghahramani 2016).

Row i belongs to input i of a layer, so a draw is the network with some inputs of each layer dropped. It has no density:
there is no KL term, and the prior acts as weight decay on m.
"""

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import Array, PRNGKey, Scalar, Weight
from plait.posterior import Family, Point, Posterior
from plait.site.layout import Layout


class RowDropoutPosterior(Posterior):
    """A value for each entry; rows are zero with some probability."""

    local: ClassVar[bool] = False

    mean: Weight
    layout: Layout = eqx.field(static=True)
    rate: float = eqx.field(static=True)
    """p."""

    @property
    def variance(self) -> Array:
        return jnp.square(self.mean) * (self.rate / (1 - self.rate))

    def sample(self, key: PRNGKey) -> Array:
        kept = jax.random.bernoulli(key, 1 - self.rate, (self.layout.fan_in, 1)).astype(self.mean.dtype)
        return self.layout.from_matrix(self.layout.to_matrix(self.mean) * (kept / (1 - self.rate)))

    def log_prob(self, weight: Array) -> Scalar:
        del weight
        raise TypeError("dropout has no density of weights: a row is exactly zero with positive probability")

    def entropy(self) -> Scalar:
        return jnp.asarray(-jnp.inf, self.mean.dtype)

    def parts(self) -> list[tuple[float, Posterior]]:
        return []

    @property
    def num_params(self) -> int:
        return self.mean.size


@dataclass(frozen=True)
class RowDropout(Family):
    """Dropout of the inputs of each layer; biases are constants."""

    rate: float = 0.05

    def __post_init__(self):
        if not 0 < self.rate < 1:
            raise ValueError(f"`rate` is the probability that an input is dropped, in (0, 1); got {self.rate!r}")

    def initialise(self, weight: Array, layout: Layout, *, key: PRNGKey) -> Posterior:
        del key
        return RowDropoutPosterior(weight, layout, self.rate)

    def for_vectors(self) -> Family:
        return Point()

    @property
    def default_estimator(self) -> str:
        return "weights"
