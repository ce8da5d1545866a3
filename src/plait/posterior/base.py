"""A posterior: a distribution over one weight tensor, an array-like value.

It knows its mean, variance, density, entropy, how to draw, and how many numbers it stores. It carries no key and knows
no layer; `layout` tells it which axes of its tensor are fan-in and which fan-out, nothing more.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._random import normal
from plait._typing import Array, PRNGKey, Scalar
from plait.linalg.stable import safe_sqrt
from plait.site.base import Site
from plait.site.layout import Kept, Layout
from plait.site.view import WeightView


@runtime_checkable
class StructuredDraw(Protocol):
    """One draw of a weight that a site can use without the weight being formed."""

    def apply(self, site: Site, x: Array) -> Array:
        """y of the site for this draw."""
        ...

    def dense(self) -> Array:
        """The weight itself."""
        ...


class Posterior(eqx.Module):
    """A distribution over one weight tensor."""

    local: ClassVar[bool] = True
    """Whether the pre-activation can be drawn directly (`output_noise`)."""
    per_example: ClassVar[bool] = False
    """Whether every example can have a weight of its own at the cost of one."""

    if TYPE_CHECKING:
        # A static checker would take abstract variables for the first fields of every subclass.
        @property
        def layout(self) -> Layout: ...

        @property
        def mean(self) -> Array: ...
    else:
        layout: eqx.AbstractVar[Layout]
        mean: eqx.AbstractVar[Array]
        """E[W], in the weight's own shape."""

    @property
    def independent(self) -> bool:
        """Whether the entries are independent and symmetric about their means: what Flipout needs."""
        return False

    @property
    def independent_outputs(self) -> bool:
        """Whether the entries of a pre-activation are independent, so that `output_variance` says all of its noise."""
        return True

    def local_refusal(self, groups: int) -> str | None:
        """Why the pre-activation of a site with so many groups cannot be drawn directly, or None."""
        del groups
        return None if self.local else "it has no direct draw of the pre-activation"

    @property
    def has_moments(self) -> bool:
        """Whether mean and variance exist."""
        return True

    @property
    def entropy_is(self) -> Literal["exact", "bound"]:
        """How `entropy` is obtained; a bound is a lower one, so that the ELBO stays a bound."""
        return "exact"

    @property
    @abstractmethod
    def variance(self) -> Array:
        """Var[W] entry by entry, in the weight's own shape."""

    @abstractmethod
    def sample(self, key: PRNGKey) -> Array:
        """One draw of W."""

    def samples(self, key: PRNGKey, count: int) -> Array:
        """Independent draws, on a new first axis."""
        return jax.vmap(self.sample)(jax.random.split(key, count))

    @abstractmethod
    def log_prob(self, weight: Array) -> Scalar:
        """log q(W) in nats."""

    @abstractmethod
    def entropy(self) -> Scalar:
        """H[q] in nats."""

    def parts(self) -> "list[tuple[float, Posterior]]":
        """What the prior acts on: weights of the KL terms and the independent distributions they belong to."""
        return [(1.0, self)]

    @property
    def is_constant(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.parts()

    @property
    @abstractmethod
    def num_params(self) -> int:
        """Trained numbers."""

    @property
    def components(self) -> int | None:
        """The number of mixture components, or None."""
        return None

    def component(self, index: Array | int) -> "Posterior":
        """One mixture component."""
        del index
        return self

    def draw(self, key: PRNGKey, examples: int | None = None) -> "Array | StructuredDraw":
        """One draw for a whole call, structured where the family has a cheaper form than the array.

        With `examples`, a family that can gives every example a draw of its own.
        """
        del examples
        return self.sample(key)

    def center(self) -> "Array | StructuredDraw":
        """The draw that mean mode uses."""
        return self.mean

    def covariance(self) -> Array:
        """Cov[vec W] with vec in the weight's memory order; for small weights."""
        return jnp.diag(self.variance.reshape(-1))

    def total_variance(self) -> Scalar:
        """sum_ij Var[W_ij]: all a spherical prior needs to know of the variances."""
        return jnp.sum(self.variance)

    def row_variances(self) -> Array:
        """sum_j Var[W_ij] for each row i of the matrix."""
        return jnp.sum(self.layout.to_matrix(self.variance), axis=-1)

    def output_variance(self, site: Site, x: Array) -> Array:
        """Var of the site's linear part entry by entry, for independent entries."""
        return site.linear(site.square(x), self.variance)

    def output_noise(self, site: Site, x: Array, key: PRNGKey) -> Array:
        """A zero-mean draw of the site's linear part, for each application of the weight anew.

        Only a family whose outputs are not independent has one of its own.
        """
        return independent_noise(self.output_variance(site, x), site, key)

    def windowed(self, view: WeightView) -> "Posterior | None":
        """The marginal of a window of the weight, or None where the family has no cheap form of it."""
        return self if view.window is None else None

    def restricted(self, kept: Kept) -> "Posterior | None":
        """The marginal of the entries kept on each axis, or None where the family has none of its own kind."""
        del kept
        return None


def independent_noise(variance: Array, site: Site, key: PRNGKey) -> Array:
    """Independent zero-mean noise of the given variance, in the dtype of the site's result."""
    std = safe_sqrt(variance).astype(site.y.dtype)
    return std * normal(key, std.shape, std.dtype)


@dataclass(frozen=True)
class Family(ABC):
    """What a user asks for: turns a weight into the posterior that starts there."""

    @abstractmethod
    def initialise(self, weight: Array, layout: Layout, *, key: PRNGKey) -> Posterior:
        """The posterior of one weight, its mean at the given value."""

    def for_vectors(self) -> "Family":
        """The family of weights without a fan-in side (biases, scales)."""
        return self

    @property
    def default_estimator(self) -> str:
        return "local"

    def describe(self) -> str:
        """How the site table names it."""
        fields = (f"{value}" for value in vars(self).values())
        return f"{type(self).__name__}({', '.join(fields)})"


def check_scale(value: float, name: str) -> None:
    """Refuse what is no standard deviation."""
    if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0):
        raise ValueError(f"`{name}` is a standard deviation and must be a positive number, got {value!r}")


def jitter(key: PRNGKey, shape: tuple[int, ...], spread: float, dtype: Any) -> Array:
    """Initialisation noise of the given standard deviation."""
    return spread * jax.random.normal(key, shape, dtype)


LOG_2_PI_E = math.log(2 * math.pi) + 1
