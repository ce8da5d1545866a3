"""Noisy natural gradient with neighbouring layers correlated (paper 004, 3.3; Martens & Grosse 2015, 4.3).

    A_ij = E[a_i a_j^T],   S_ij = N / lambda E[g_i g_j^T]     for j = i and j = i + 1, by one moving average
    PsiA = A_i,i+1 A_i+1^-1,     C = PsiA A_i+1 PsiA^T        PsiG and D likewise; A_i, S_i damped as in K-FAC
    Sigma_i|i+1 = (A_i (x) S_i - C (x) D)^-1

With A^-1 = R R^T and R^T C R = E diag(s) E^T, K = R E has K K^T = A^-1 and K^T C K = diag(s): in these coordinates the
conditional covariance is 1 / (1 - s t^T) entry by entry (MATH 3.4; W is transposed against the paper's W_i there).
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp

from plait._typing import Array, Scalar
from plait.linalg.decompositions import eigh, inverse_root
from plait.model import BayesianModel
from plait.natural.curvature import Curvature, Look, Priors
from plait.natural.fisher import Fisher
from plait.natural.kronecker import (
    Factors,
    absorb_factors,
    damped,
    layer_of,
    row_precision,
    seen_factors,
    start_factors,
)
from plait.natural.layers import find_layers
from plait.natural.method import NaturalGradient
from plait.natural.noisy_kfac import with_rest
from plait.posterior import BlockTridiagonalPosterior, ChainedLayer, LayerMatrix

SMALLEST_GAP = 1e-6
"""1 - s t^T is at least this: round-off could make it negative."""


class Chain(NamedTuple):
    """The moving averages of each layer, and of each pair of neighbours."""

    own: tuple[Factors, ...]
    pairs: tuple[Factors, ...]


@dataclass(frozen=True)
class BlockTridiagonalCurvature(Curvature):
    """A structure over all layers of a network, in the order of the program."""

    layers: tuple[LayerMatrix, ...]

    def find(self, bnn: BayesianModel) -> BlockTridiagonalPosterior | None:
        for joint in bnn.joints:
            if isinstance(joint, BlockTridiagonalPosterior) and joint.layers == self.layers:
                return joint
        return None

    def make(self, bnn: BayesianModel) -> BlockTridiagonalPosterior:
        chain: list[ChainedLayer] = []
        for layer in self.layers:
            mean, variance = layer_of(bnn, layer)
            own = Factors(jnp.eye(layer.rows, dtype=mean.dtype), jnp.eye(layer.columns, dtype=mean.dtype) / variance)
            chain.append(_link(mean, own, _no_share(own), chain[-1] if chain else None, None))
        return BlockTridiagonalPosterior(tuple(chain), self.layers)

    def describe(self) -> str:
        return "BlockTridiagonal"

    def start(self, value: BlockTridiagonalPosterior, priors: Priors) -> Chain:
        own = []
        for link, layer in zip(value.chain, self.layers, strict=True):
            totals = [marginal.total_variance() for path, marginal in value.marginals().items() if path in layer.paths]
            variance = sum(totals[1:], totals[0]) / link.mean.size
            own.append(start_factors(link.mean, variance, row_precision(layer, priors)))
        pairs = [
            Factors(*(jnp.zeros((a.shape[0], b.shape[0]), a.dtype) for a, b in zip(first, second, strict=True)))
            for first, second in pairwise(own)
        ]
        return Chain(tuple(own), tuple(pairs))

    def summarise(self, look: Look, value: BlockTridiagonalPosterior) -> Chain:
        own = [seen_factors(look, layer) for layer in self.layers]
        sites = [look.recording.sites[layer.kernel] for layer in self.layers]
        rows = [s.rows(bias=layer.bias is not None)[:, 0] for s, layer in zip(sites, self.layers, strict=True)]
        columns = [site.columns()[:, 0] for site in sites]
        pairs = []
        for i, (first, second) in enumerate(pairwise(rows)):
            if first.shape[0] != second.shape[0]:
                raise ValueError(
                    f"a block-tridiagonal curvature pairs what neighbouring layers see of one example, and "
                    f"{self.layers[i].kernel!r} is applied {first.shape[0]} times where {self.layers[i + 1].kernel!r} "
                    f"is applied {second.shape[0]} times: use plait.NoisyKFAC"
                )
            places = first.shape[0] / look.examples
            products = first.T @ second / first.shape[0], columns[i].T @ columns[i + 1] / first.shape[0]
            pairs.append(Factors(products[0], places * products[1]))
        return Chain(tuple(own), tuple(pairs))

    def absorb(
        self, value: Any, state: Chain, seen: Any, priors: Priors, strength: Any, rate: Any
    ) -> tuple[Any, Chain]:
        del priors

        def both(old: tuple[Factors, ...], new: tuple[Factors, ...]) -> tuple[Factors, ...]:
            return tuple(absorb_factors(a, b, strength, rate) for a, b in zip(old, new, strict=True))

        return value, Chain(both(state.own, seen.own), both(state.pairs, seen.pairs))

    def refresh(self, value: Any, state: Chain, priors: Priors, ridge: Any) -> tuple[Any, Chain]:
        del ridge
        own = [
            damped(factors, row_precision(layer, priors)) for factors, layer in zip(state.own, self.layers, strict=True)
        ]
        chain: list[ChainedLayer] = []
        carry: tuple[Array, Array] | None = None
        for i, link in enumerate(value.chain):
            following = None
            if i + 1 < len(own):
                pair = state.pairs[i]
                following = _regress(pair.inputs, own[i + 1].inputs), _regress(pair.outputs, own[i + 1].outputs)
            share = _no_share(own[i]) if following is None else tuple(map(_explained, following, own[i + 1]))
            chain.append(_link(link.mean, own[i], share, chain[-1] if chain else None, carry))
            carry = following
        return replace(value, chain=tuple(chain)), state

    def direction(
        self, value: BlockTridiagonalPosterior, state: Chain, gradients: dict[str, Array], strength: Any, ridge: Any
    ) -> dict[str, Array]:
        del state, ridge
        found = value.covariance_times([layer.join(gradients) for layer in self.layers])
        parts: dict[str, Array] = {}
        for layer, matrix in zip(self.layers, found, strict=True):
            parts |= layer.split(strength * matrix)
        return parts

    def move(self, value: BlockTridiagonalPosterior, steps: dict[str, Array]) -> BlockTridiagonalPosterior:
        moved = [
            replace(link, mean=link.mean + layer.join(steps))
            for link, layer in zip(value.chain, self.layers, strict=True)
        ]
        return replace(value, chain=tuple(moved))


def _no_share(own: Factors) -> tuple[Array, Array]:
    inputs, outputs = own
    return jnp.zeros_like(inputs), jnp.zeros_like(outputs)


def _regress(pair: Array, following: Array) -> Array:
    """Psi = X_i,i+1 X_i+1^-1."""
    root = inverse_root(following)
    return pair @ root @ root.T


def _explained(psi: Array, following: Array) -> Array:
    """Psi X_i+1 Psi^T."""
    return psi @ following @ psi.T


def _link(
    mean: Array, own: Factors, share: Any, before: ChainedLayer | None, carry: tuple[Array, Array] | None
) -> ChainedLayer:
    """One layer of the posterior, given the one before and its Psi."""
    (rows, row_share, row_log), (columns, column_share, column_log) = map(_simultaneous, own, share)
    n, m = mean.shape
    # s t^T < 1 as the blocks are those of a positive matrix; where round-off breaks it, the layers are held apart.
    largest = jnp.max(row_share) * jnp.max(column_share)
    row_share = row_share * jnp.minimum(1, (1 - SMALLEST_GAP) / jnp.maximum(largest, SMALLEST_GAP))
    log_det = m * row_log + n * column_log
    if before is None:
        return ChainedLayer(mean, rows, columns, row_share, column_share, log_det, None, None)
    if carry is None:
        p, q = (jnp.zeros((size, old.shape[0]), mean.dtype) for size, old in ((n, before.rows), (m, before.columns)))
    else:
        p, q = carry[0].T @ before.rows, carry[1].T @ before.columns
    return ChainedLayer(mean, rows, columns, row_share, column_share, log_det, p, q)


def _simultaneous(matrix: Array, share: Array) -> tuple[Array, Array, Scalar]:
    """K with K K^T = X^-1 and K^T C K = diag(s); s; and log|K|."""
    root = inverse_root(matrix)
    values, vectors = eigh(root.T @ share @ root)
    return root @ vectors, jnp.maximum(values, 0), jnp.sum(jnp.log(jnp.diagonal(root)))


class NoisyBlockTridiagonal(NaturalGradient):
    """Natural gradient with a Kronecker product for each layer and for each pair of neighbours; for dense networks.

    The layers form a chain in the order of the program. Steps and draws share one decomposition: there is no `damping`.
    """

    fisher: Fisher = eqx.field(static=True, default="sampled")
    statistics_every: int = eqx.field(static=True, default=10)
    inverse_every: int = eqx.field(static=True, default=100)

    def __check_init__(self):
        if not (isinstance(self.damping, (int, float)) and self.damping == 0):
            raise ValueError(
                "NoisyBlockTridiagonal takes steps and draws by one decomposition and no `damping`, got "
                f"{self.damping!r}; the prior damps"
            )

    def curvatures(self, bnn: BayesianModel) -> tuple[tuple[Curvature, ...], dict[str, str]]:
        layers, reasons = find_layers(bnn, kinds=("dense",))
        if not layers:
            raise ValueError("NoisyBlockTridiagonal needs a dense layer, and the model has none: use plait.NoisyAdam")
        paths = tuple(path for layer in layers for path in layer.paths)
        return with_rest(bnn, (BlockTridiagonalCurvature(paths, layers),), reasons)
