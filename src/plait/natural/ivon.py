"""A diagonal Hessian from the reparametrisation trick, kept positive by its step (Shen et al. 2024, algorithm 1: IVON).

    h^ = -g (w - mu) / sigma^2                                   E h^ = the diagonal of the Hessian of -log p, by Stein
    h <- h + b (h^ - h) + b^2 / 2 (h^ - h)^2 / (h + delta)       h + delta > 0 since 1 + u + u^2 / 2 > 0
    mu <- mu - alpha (m^ + delta mu) / (h + delta),     sigma^-2 = N (h + delta)

Written for the precision Lambda = N (h + delta) and delta = P / N, so that N and the KL weight only scale h^. It needs
no squares of gradients of examples: a step costs what a gradient step does.
"""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from plait._typing import Array
from plait.model import BayesianModel
from plait.natural.curvature import Curvature, Look, Priors
from plait.natural.diagonal import DiagonalCurvature, Values, with_precision
from plait.natural.fisher import Fisher
from plait.natural.method import NaturalGradient
from plait.natural.prior import gaussian_priors


@dataclass(frozen=True)
class HessianCurvature(DiagonalCurvature):
    """Independent entries, by a Hessian."""

    def summarise(self, look: Look, value: Values) -> dict[str, Array]:
        recording = look.recording

        def one(path: str) -> Array:
            precision = jnp.exp(-2 * value[path].unconstrained)
            gap = recording.weights[path] - value[path].mean
            return -recording.weight_gradients[path] / look.examples * gap * precision

        return {path: one(path) for path in self.paths}

    def absorb(
        self, value: Values, state: None, seen: Any, priors: Priors, strength: Any, rate: Any
    ) -> tuple[Values, None]:
        moved: Values = {}
        for path, posterior in value.items():
            old = jnp.exp(-2 * posterior.unconstrained)
            change = rate * (strength * seen[path] + jnp.broadcast_to(priors[path].precision, old.shape) - old)
            moved[path] = with_precision(posterior, old + change + 0.5 * jnp.square(change) / old)
        return moved, state


class IVON(NaturalGradient):
    """Natural gradient with independent entries and a Hessian that no example's own gradient is needed for."""

    learning_rate: Any = 0.1
    curvature_rate: Any = 1e-4

    @property
    def fisher(self) -> Fisher:
        return "empirical"

    @property
    def statistics_every(self) -> int:
        return 1

    @property
    def inverse_every(self) -> int:
        return 1

    def curvatures(self, bnn: BayesianModel) -> tuple[tuple[Curvature, ...], dict[str, str]]:
        return (HessianCurvature(tuple(gaussian_priors(bnn))),), {}
