"""The Fisher matrix of a layer as a Kronecker product, F = T S (x) A, and the posteriors that follow (MATH 3.1).

    A = E[a a^T],   S = N / lambda T E[g g^T],   P = diag(p) over rows        T: places of one example
    "damped"   Sigma = S_d^-1 (x) A_d^-1,   A_d = A + pi P / sqrt(p~),   S_d = S + sqrt(p~) / pi I         paper 004
    "exact"    Sigma = (S (x) A + I (x) P)^-1,   in the eigenbasis of P^-1/2 A P^-1/2 and S

with p~ the mean of p and pi^2 = (tr A / n) / (tr S / m). The first is a matrix normal, and wider in no direction than
the second: damping adds two cross terms to the precision. The second is no matrix normal.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from plait._typing import Array, Scalar
from plait.linalg.cholesky import CholeskyFactor
from plait.linalg.decompositions import eigh, inverse_root
from plait.linalg.rotation import Rotation
from plait.model import BayesianModel
from plait.natural.curvature import Curvature, Look, Priors
from plait.natural.prior import mean_of, variance_of
from plait.posterior import (
    EigenbasisPosterior,
    LayerMatrix,
    LayerPosterior,
    MatrixNormalPosterior,
    Posterior,
)


class Factors(NamedTuple):
    """The moving averages."""

    inputs: Array
    """A."""
    outputs: Array
    """S."""


def layer_of(bnn: BayesianModel, layer: LayerMatrix) -> tuple[Array, Scalar]:
    """The mean of a layer's matrix, and the average variance of its entries."""
    variances = [variance_of(bnn, path) for path in layer.paths]
    total = sum((jnp.sum(variance) for variance in variances[1:]), jnp.sum(variances[0]))
    mean = layer.join({path: mean_of(bnn, path) for path in layer.paths})
    return mean, total / mean.size


def row_precision(layer: LayerMatrix, priors: Priors) -> Array:
    """p: the prior's precision of each row."""
    kernel = jnp.full((layer.kernel_layout.fan_in,), priors[layer.kernel].precision)
    if layer.bias is None:
        return kernel
    return jnp.concatenate([kernel, priors[layer.bias].precision[None]])


def start_factors(mean: Array, variance: Array, precision: Array) -> Factors:
    """Multiples of the identity that leave a layer as wide as it is: A = I and S = (1 / variance - p~) I."""
    rows, columns = mean.shape
    data = jnp.maximum(1 / variance - jnp.mean(precision), 1e-6 / variance)
    return Factors(jnp.eye(rows, dtype=mean.dtype), data * jnp.eye(columns, dtype=mean.dtype))


def seen_factors(look: Look, layer: LayerMatrix) -> Factors:
    """Those of one batch, before they are weighted by N / lambda."""
    seen = look.recording.sites[layer.kernel]
    places = seen.site.positions / look.examples
    inputs = seen.input_second_moment(bias=layer.bias is not None)[0]
    return Factors(inputs, places * seen.gradient_second_moment()[0])


def absorb_factors(old: Factors, seen: Factors, strength: Any, rate: Any) -> Factors:
    """A step of the moving averages."""
    new = Factors(seen.inputs.astype(old.inputs.dtype), strength * seen.outputs.astype(old.outputs.dtype))
    return Factors(*((1 - rate) * one + rate * other for one, other in zip(old, new, strict=True)))


def damped(factors: Factors, precision: Array) -> Factors:
    """A_d and S_d; both stay definite in floating point, whatever their averages become."""
    inputs, outputs = factors
    tiny = jnp.finfo(inputs.dtype).tiny
    ratio = jnp.trace(inputs) / inputs.shape[0] / jnp.maximum(jnp.trace(outputs) / outputs.shape[0], tiny)
    balance, average = jnp.sqrt(jnp.maximum(ratio, tiny)), jnp.mean(precision)
    rows = balance * precision / jnp.sqrt(average)
    columns = jnp.full((outputs.shape[0],), jnp.sqrt(average) / balance, outputs.dtype)
    return Factors(_add(inputs, rows), _add(outputs, columns))


def _add(matrix: Array, diagonal: Array) -> Array:
    # Round-off of a factorisation is at most about eps times the largest eigenvalue, and that is below the trace.
    floor = 2 * jnp.finfo(matrix.dtype).eps * jnp.trace(matrix)
    return matrix + jnp.diag(jnp.maximum(diagonal, floor))


def _is_none(ridge: Any) -> bool:
    return isinstance(ridge, float) and ridge == 0


@dataclass(frozen=True)
class LayerCurvature(Curvature):
    """A structure over one layer, whose posterior is one of its matrix."""

    layer: LayerMatrix

    @property
    @abstractmethod
    def kind(self) -> type[Posterior]:
        """What the layer's matrix has for a posterior."""

    def find(self, bnn: BayesianModel) -> LayerPosterior | None:
        for joint in bnn.joints:
            if isinstance(joint, LayerPosterior) and joint.layer == self.layer and type(joint.matrix) is self.kind:
                return joint
        return None

    @abstractmethod
    def isotropic(self, mean: Array, variance: Array) -> Posterior:
        """The posterior of a matrix with independent entries of one variance."""

    def make(self, bnn: BayesianModel) -> LayerPosterior:
        return LayerPosterior(self.isotropic(*layer_of(bnn, self.layer)), self.layer)

    def move(self, value: LayerPosterior, steps: dict[str, Array]) -> LayerPosterior:
        return with_matrix(value, mean=value.matrix.mean + self.layer.join(steps))


def with_matrix(value: LayerPosterior, **fields: Any) -> LayerPosterior:
    """The posterior with other fields of that of its matrix."""
    return replace(value, matrix=replace(value.matrix, **fields))


class DampedState(NamedTuple):
    """Moving averages, and the inverses that gradients are multiplied by."""

    factors: Factors
    inverses: Factors


@dataclass(frozen=True)
class DampedKronecker(LayerCurvature):
    """The matrix normal of paper 004."""

    @property
    def kind(self) -> type[Posterior]:
        return MatrixNormalPosterior

    def isotropic(self, mean: Array, variance: Array) -> Posterior:
        rows, columns = mean.shape
        row_root = CholeskyFactor.from_matrix(jnp.eye(rows, dtype=mean.dtype))
        column_root = CholeskyFactor.from_matrix(jnp.sqrt(variance) * jnp.eye(columns, dtype=mean.dtype))
        return MatrixNormalPosterior(mean, row_root, column_root, self.layer.layout)

    def describe(self) -> str:
        return "MatrixNormal(cholesky, cholesky)" + (" with bias" if self.layer.bias is not None else "")

    def start(self, value: LayerPosterior, priors: Priors) -> DampedState:
        variance = value.matrix.total_variance() / value.matrix.mean.size
        factors = start_factors(value.matrix.mean, variance, row_precision(self.layer, priors))
        return DampedState(factors, Factors(*map(jnp.zeros_like, factors)))

    def summarise(self, look: Look, value: LayerPosterior) -> Factors:
        del value
        return seen_factors(look, self.layer)

    def absorb(
        self, value: LayerPosterior, state: DampedState, seen: Any, priors: Priors, strength: Any, rate: Any
    ) -> tuple[LayerPosterior, DampedState]:
        return value, state._replace(factors=absorb_factors(state.factors, Factors(*seen), strength, rate))

    def refresh(
        self, value: LayerPosterior, state: DampedState, priors: Priors, ridge: Any
    ) -> tuple[LayerPosterior, DampedState]:
        precision = row_precision(self.layer, priors)
        roots = [inverse_root(factor) for factor in damped(state.factors, precision)]
        rows, columns = map(CholeskyFactor.from_matrix, roots)
        # The ridge is there for the steps only.
        steps = roots
        if not _is_none(ridge):
            steps = [inverse_root(factor) for factor in damped(state.factors, precision + ridge)]
        inverses = Factors(*(root @ root.T for root in steps))
        return with_matrix(value, rows=rows, columns=columns), state._replace(inverses=inverses)

    def direction(
        self, value: LayerPosterior, state: DampedState, gradients: dict[str, Array], strength: Any, ridge: Any
    ) -> dict[str, Array]:
        del value, ridge
        gradient = self.layer.join(gradients)
        return self.layer.split(strength * (state.inverses.inputs @ gradient @ state.inverses.outputs))


@dataclass(frozen=True)
class ExactKronecker(LayerCurvature):
    """The posterior under the Kronecker product and the prior, without damping."""

    @property
    def kind(self) -> type[Posterior]:
        return EigenbasisPosterior

    def isotropic(self, mean: Array, variance: Array) -> Posterior:
        rows, columns = mean.shape
        return EigenbasisPosterior(
            mean,
            Rotation.identity(rows, mean.dtype),
            Rotation.identity(columns, mean.dtype),
            jnp.zeros((rows,), mean.dtype),
            jnp.full(mean.shape, 0.5 * jnp.log(variance)),
            self.layer.layout,
        )

    def describe(self) -> str:
        return "Eigenbasis" + (" with bias" if self.layer.bias is not None else "")

    def start(self, value: LayerPosterior, priors: Priors) -> Any:
        variance = value.matrix.total_variance() / value.matrix.mean.size
        return start_factors(value.matrix.mean, variance, row_precision(self.layer, priors))

    def summarise(self, look: Look, value: LayerPosterior) -> Any:
        del value
        return seen_factors(look, self.layer)

    def absorb(
        self, value: LayerPosterior, state: Any, seen: Any, priors: Priors, strength: Any, rate: Any
    ) -> tuple[LayerPosterior, Any]:
        return value, absorb_factors(state, Factors(*seen), strength, rate)

    def refresh(self, value: LayerPosterior, state: Any, priors: Priors, ridge: Any) -> tuple[LayerPosterior, Any]:
        del ridge
        basis, spectrum = eigenbasis(state, row_precision(self.layer, priors))
        return with_matrix(value, **basis, log_std=-0.5 * jnp.log1p(spectrum)), state

    def direction(
        self, value: LayerPosterior, state: Any, gradients: dict[str, Array], strength: Any, ridge: Any
    ) -> dict[str, Array]:
        del state
        matrix = eigenbasis_of(value)
        # In coordinates in which the prior's precision is 1, that of the ridge is its ratio to the prior's.
        ratio = ridge * jnp.mean(jnp.exp(2 * matrix.row_log_scale))
        inner = matrix.to_basis(self.layer.join(gradients)) / (jnp.exp(-2 * matrix.log_std) + ratio)
        return self.layer.split(strength * matrix.from_basis(inner))


def eigenbasis_of(value: LayerPosterior) -> EigenbasisPosterior:
    """The posterior of the layer's matrix."""
    assert isinstance(value.matrix, EigenbasisPosterior)
    return value.matrix


def eigenbasis(factors: Factors, precision: Array) -> tuple[dict[str, Any], Array]:
    """The basis in which S (x) A and I (x) P are both diagonal, and the eigenvalues of the first; P becomes I."""
    scale = jax.lax.rsqrt(precision)
    row_values, rows = eigh(factors.inputs * jnp.outer(scale, scale))
    column_values, columns = eigh(factors.outputs)
    spectrum = jnp.outer(jnp.maximum(row_values, 0), jnp.maximum(column_values, 0))
    fields = {"rows": Rotation(rows), "columns": Rotation(columns), "row_log_scale": -0.5 * jnp.log(precision)}
    return fields, spectrum
