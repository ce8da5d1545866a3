"""Noisy K-FAC: natural gradient with a Kronecker product for each layer (paper 004, algorithm 2).

    A <- (1 - b) A + b E[a a^T],   S <- (1 - b) S + b E[g g^T],   g from targets drawn from the model
    W ~ MN(M, (lambda / N) A_d^-1, S_d^-1),   M <- M + alpha A_d^-1 (grad log p - lambda / N P (W - m)) S_d^-1

A kernel and its bias are one matrix, the bias the row of an input that is 1.
"""

from typing import Literal

import equinox as eqx

from plait.model import BayesianModel
from plait.natural.curvature import Curvature
from plait.natural.diagonal import DiagonalCurvature
from plait.natural.fisher import Fisher
from plait.natural.kronecker import DampedKronecker, ExactKronecker
from plait.natural.layers import find_layers
from plait.natural.method import NaturalGradient

SAMPLERS = {"damped": DampedKronecker, "exact": ExactKronecker}
KINDS = ("dense", "conv")


class NoisyKFAC(NaturalGradient):
    """Natural gradient with a Kronecker-factored precision.

    `sampler="damped"` has the matrix normal of the paper, the prior spread over both factors; "exact" has the inverse
    of the Kronecker product plus the prior, at the cost of eigendecompositions instead of inverses.
    """

    sampler: Literal["damped", "exact"] = eqx.field(static=True, default="damped")
    fisher: Fisher = eqx.field(static=True, default="sampled")
    statistics_every: int = eqx.field(static=True, default=10)
    inverse_every: int = eqx.field(static=True, default=100)

    def __check_init__(self):
        if self.sampler not in SAMPLERS:
            raise ValueError(f"`sampler` must be one of {', '.join(map(repr, SAMPLERS))}, got {self.sampler!r}")

    def curvatures(self, bnn: BayesianModel) -> tuple[tuple[Curvature, ...], dict[str, str]]:
        layers, reasons = find_layers(bnn, kinds=KINDS)
        found = tuple(SAMPLERS[self.sampler](layer.paths, layer) for layer in layers)
        return with_rest(bnn, found, reasons)


def with_rest(
    bnn: BayesianModel, found: tuple[Curvature, ...], reasons: dict[str, str]
) -> tuple[tuple[Curvature, ...], dict[str, str]]:
    """The structures, and a diagonal one for the weights that are in none."""
    if not reasons:
        return found, reasons
    return (*found, DiagonalCurvature.over(bnn, tuple(reasons))), reasons
