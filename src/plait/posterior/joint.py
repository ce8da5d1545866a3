"""A posterior over several weights at once: it draws them together, and the sites see arrays."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import equinox as eqx
import jax.numpy as jnp

from plait._typing import Array, PRNGKey, Scalar, Weight
from plait.site.layout import Layout


class Marginal(eqx.Module):
    """Mean and variance of one weight under a joint posterior: what a factorised prior asks for."""

    mean: Weight
    variance: Weight
    total: Scalar | None = None
    """The sum of the variances, where there is a cheaper way to it than through each."""

    has_moments: ClassVar[bool] = True

    def total_variance(self) -> Scalar:
        return jnp.sum(self.variance) if self.total is None else self.total


class JointPosterior(eqx.Module):
    """A distribution over a tuple of weights."""

    if TYPE_CHECKING:
        # As in `Posterior`.
        @property
        def means(self) -> dict[str, Array]: ...
    else:
        means: eqx.AbstractVar[dict[str, Weight]]

    entropy_is: ClassVar[str] = "exact"

    @abstractmethod
    def sample(self, key: PRNGKey) -> dict[str, Array]:
        """One draw of all weights."""

    @abstractmethod
    def log_prob(self, weights: dict[str, Array]) -> Scalar:
        """log q of all weights together."""

    @abstractmethod
    def entropy(self) -> Scalar:
        """H[q]."""

    @abstractmethod
    def marginals(self) -> dict[str, Marginal]:
        """Mean and variance of each weight."""

    @property
    @abstractmethod
    def num_params(self) -> int:
        """Trained numbers."""


@dataclass(frozen=True)
class JointFamily:
    """A family that can cover several weights at once."""

    @property
    def is_joint(self) -> bool:
        return bool(getattr(self, "joint", False))

    @abstractmethod
    def initialise_joint(
        self, weights: dict[str, Array], layouts: dict[str, Layout], *, key: PRNGKey
    ) -> JointPosterior:
        """The joint posterior of all weights that were assigned this family value."""
