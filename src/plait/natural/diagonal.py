"""A precision for each entry, kept in a mean-field posterior: sigma^-2 = Lambda.

    Lambda <- (1 - beta) Lambda + beta (N / lambda E[g^2] + P)

E[g^2] of a weight at a site is one product, (a^2)^T (g^2), without a gradient for each example; a weight that an
example applies T times has the sum over its places, as if these were independent. Of a weight without a site to itself
only the gradient summed over the batch is known, and its square stands in: for drawn targets, whose gradients are
independent with mean zero, it has the right expectation.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import jax
import jax.numpy as jnp

from plait._typing import Array
from plait.model import BayesianModel
from plait.natural.curvature import Curvature, Look, Priors
from plait.natural.prior import mean_of, variance_of
from plait.posterior import MeanFieldPosterior

Squares = Literal["per_example", "minibatch"]
SQUARES = ("per_example", "minibatch")

Values = dict[str, MeanFieldPosterior]


@dataclass(frozen=True)
class DiagonalCurvature(Curvature):
    """Independent entries."""

    biases: tuple[tuple[str, str], ...] = ()
    """Biases and the weight with whose columns they share gradients."""
    squares: Squares = "per_example"
    root: bool = False
    """Divide by the square root of the precision, as algorithm 1 of the paper is printed (MATH 3.8)."""

    @classmethod
    def over(cls, bnn: BayesianModel, paths: tuple[str, ...], **options: Any) -> "DiagonalCurvature":
        """Of some weights of a model."""
        biases = tuple((row.path, row.shifts) for row in bnn.sites if row.shifts and row.path in paths)
        return cls(paths, biases, **options)

    def find(self, bnn: BayesianModel) -> Values | None:
        found: Values = {}
        for path in self.paths:
            posterior = bnn.posteriors.get(path)
            if not isinstance(posterior, MeanFieldPosterior) or posterior.transform != "exp" or posterior.max_scale:
                return None
            found[path] = posterior
        return found

    def make(self, bnn: BayesianModel) -> Values:
        layouts = {row.path: row.layout for row in bnn.sites}
        return {
            path: MeanFieldPosterior(mean_of(bnn, path), 0.5 * jnp.log(variance_of(bnn, path)), layouts[path])
            for path in self.paths
        }

    def describe(self) -> str:
        return "MeanField"

    def start(self, value: Values, priors: Priors) -> None:
        del value, priors

    def summarise(self, look: Look, value: Values) -> dict[str, Array]:
        del value
        if self.squares == "minibatch":
            gradients = look.recording.weight_gradients
            return {path: jnp.square(gradients[path] / look.examples) for path in self.paths}
        biases = dict(self.biases)
        return {path: mean_square(look, path, biases.get(path)) for path in self.paths}

    def absorb(
        self, value: Values, state: None, seen: Any, priors: Priors, strength: Any, rate: Any
    ) -> tuple[Values, None]:
        def one(path: str, posterior: MeanFieldPosterior) -> MeanFieldPosterior:
            old = jnp.exp(-2 * posterior.unconstrained)
            new = strength * seen[path] + jnp.broadcast_to(priors[path].precision, old.shape)
            return with_precision(posterior, (1 - rate) * old + rate * new)

        return {path: one(path, posterior) for path, posterior in value.items()}, state

    def direction(
        self, value: Values, state: None, gradients: dict[str, Array], strength: Any, ridge: Any
    ) -> dict[str, Array]:
        del state

        def one(posterior: MeanFieldPosterior, gradient: Array) -> Array:
            each = (jnp.exp(-2 * posterior.unconstrained) + ridge) / strength
            return gradient * (jax.lax.rsqrt(each) if self.root else 1 / each)

        return {path: one(posterior, gradients[path]) for path, posterior in value.items()}

    def move(self, value: Values, steps: dict[str, Array]) -> Values:
        return {path: replace(posterior, mean=posterior.mean + steps[path]) for path, posterior in value.items()}


def with_precision(posterior: MeanFieldPosterior, precision: Array) -> MeanFieldPosterior:
    """The posterior with another precision for each entry."""
    return replace(posterior, unconstrained=-0.5 * jnp.log(precision))


def mean_square(look: Look, path: str, kernel: str | None) -> Array:
    """E[g^2] of a weight, in its shape; `kernel` is the weight with whose columns a bias shares gradients."""
    recording, examples = look.recording, look.examples
    gradient = recording.weight_gradients[path]
    if path in recording.sites:
        seen = recording.sites[path]
        square = seen.site.square(seen.inputs)
        _, transpose = jax.vjp(lambda weight: seen.site.linear(square, weight), gradient)
        return transpose(jnp.square(seen.gradients))[0].astype(gradient.dtype) / examples
    if kernel is not None and kernel in recording.sites:
        columns = recording.sites[kernel].columns()[:, 0].astype(gradient.dtype)
        return (jnp.sum(jnp.square(columns), axis=0) / examples).reshape(gradient.shape)
    return jnp.square(gradient) / examples
