"""What a natural-gradient method asks of a structure of the curvature.

    Lambda <- (1 - beta) Lambda + beta (N / lambda E[g g^T] + P)         P: precision of the prior (paper 004, eq. 8)
    Sigma = Lambda^-1,      mu <- mu + alpha (N / lambda) Sigma v        v = grad log p(y | x, w) - lambda / N P (w - m)

Curvature is kept as the precision itself, natural parameters of q: the same numbers whatever N, lambda and the batch
size, and an annealed lambda only changes what new batches add. A structure says how Lambda is stored, how a batch is
summed up for it, how q follows from it, and how Sigma multiplies a gradient.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plait._typing import Array, PyTree
from plait.model import BayesianModel, Recording
from plait.natural.prior import GaussianPrior
from plait.posterior import JointPosterior, Posterior

Value = dict[str, Posterior] | JointPosterior
"""Posteriors of one structure: one for each weight, or one over all of them."""

Priors = dict[str, GaussianPrior]


@dataclass(frozen=True)
class Look:
    """What a pass over a batch at one draw of the weights revealed, about the data or about drawn targets."""

    recording: Recording
    examples: int
    each_example: Callable[[], dict[str, Array]]
    """Gradients of each example on its own, [examples, ...], for who cannot do without."""


@dataclass(frozen=True)
class Curvature(ABC):
    """A structure over some weights of a model."""

    paths: tuple[str, ...]

    @abstractmethod
    def find(self, bnn: BayesianModel) -> Value | None:
        """The posterior of these weights, if the model has one of this structure."""

    @abstractmethod
    def make(self, bnn: BayesianModel) -> Value:
        """One with the means of the model, and as wide as its posteriors are on average."""

    @abstractmethod
    def describe(self) -> str:
        """How the site table names it."""

    @abstractmethod
    def start(self, value: Any, priors: Priors) -> PyTree:
        """What has to be kept beside the posterior."""

    @abstractmethod
    def summarise(self, look: Look, value: Any) -> PyTree:
        """What a batch says of E[g g^T], as arrays whose averages over passes make sense."""

    @abstractmethod
    def absorb(self, value: Any, state: Any, seen: Any, priors: Priors, strength: Any, rate: Any) -> tuple[Any, Any]:
        """Posterior and state after a step of the moving average; `strength` is N / lambda."""

    def refresh(self, value: Any, state: Any, priors: Priors, ridge: Any) -> tuple[Any, Any]:
        """With the decompositions done anew; `ridge` is added to the precision that gradients are divided by.

        It is the number 0.0 where there is no damping.
        """
        del priors, ridge
        return value, state

    @abstractmethod
    def direction(
        self, value: Any, state: Any, gradients: dict[str, Array], strength: Any, ridge: Any
    ) -> dict[str, Array]:
        """N / lambda Sigma v."""

    @abstractmethod
    def move(self, value: Any, steps: dict[str, Array]) -> Any:
        """The posterior with its mean moved."""
