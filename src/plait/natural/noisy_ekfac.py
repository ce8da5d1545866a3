"""Noisy EK-FAC: the eigenbasis of K-FAC, with a variance for each pair of axes (George et al. 2018; MATH 3.1).

    R <- (1 - w) R + w N / lambda E[sum over places of (Qa^T D a)^2 (Qs^T g)^2T],     Sigma = (R + 1)^-1 in the basis

D = P^-1/2, so that the prior's precision is 1 along every axis. R is the diagonal of the Fisher matrix in that basis,
where K-FAC has the product of two diagonals; with a new basis it starts from that product.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp

from plait._typing import Array
from plait.model import BayesianModel
from plait.natural.curvature import Curvature, Look, Priors
from plait.natural.fisher import Fisher
from plait.natural.kronecker import (
    ExactKronecker,
    Factors,
    absorb_factors,
    eigenbasis_of,
    seen_factors,
    with_matrix,
)
from plait.natural.layers import find_layers
from plait.natural.method import NaturalGradient
from plait.natural.noisy_kfac import KINDS, with_rest
from plait.posterior import LayerPosterior


class Corrected(NamedTuple):
    """What one batch says."""

    factors: Factors
    squares: Array
    """E[(Qa^T D a)^2 (Qs^T g)^2T]."""


@dataclass(frozen=True)
class CorrectedKronecker(ExactKronecker):
    """A free variance for each pair of axes."""

    def summarise(self, look: Look, value: LayerPosterior) -> Any:
        matrix, seen = eigenbasis_of(value), look.recording.sites[self.layer.kernel]
        dtype = matrix.mean.dtype
        rows = seen.rows(bias=self.layer.bias is not None)[:, 0].astype(dtype) @ matrix.row_basis()
        columns = seen.columns()[:, 0].astype(dtype) @ matrix.columns.matrix
        squares = jnp.square(rows).T @ jnp.square(columns) / look.examples
        return Corrected(seen_factors(look, self.layer), squares)

    def absorb(
        self, value: LayerPosterior, state: Any, seen: Any, priors: Priors, strength: Any, rate: Any
    ) -> tuple[LayerPosterior, Any]:
        del priors
        spectrum = jnp.exp(-2 * eigenbasis_of(value).log_std)
        moved = (1 - rate) * spectrum + rate * (strength * seen.squares + 1)
        factors = absorb_factors(state, seen.factors, strength, rate)
        return with_matrix(value, log_std=-0.5 * jnp.log(moved)), factors


class NoisyEKFAC(NaturalGradient):
    """Natural gradient in the eigenbasis of K-FAC.

    `inverse_every` steps the basis is found anew; statistics matter in between, so it must be the larger of the two.
    """

    fisher: Fisher = eqx.field(static=True, default="sampled")
    statistics_every: int = eqx.field(static=True, default=10)
    inverse_every: int = eqx.field(static=True, default=100)

    def __check_init__(self):
        if self.inverse_every <= self.statistics_every:
            raise ValueError(
                "`inverse_every` must be larger than `statistics_every`, or the variances in a basis would never be "
                f"more than those of K-FAC; got {self.inverse_every} and {self.statistics_every}"
            )

    def curvatures(self, bnn: BayesianModel) -> tuple[tuple[Curvature, ...], dict[str, str]]:
        layers, reasons = find_layers(bnn, kinds=KINDS)
        return with_rest(bnn, tuple(CorrectedKronecker(layer.paths, layer) for layer in layers), reasons)
