"""Natural gradients for the factors of matrix normals: the Riemannian updates that paper 002 leaves for later.

Along A (I + eta), eta lower triangular, the covariance U = A A^T moves by A (eta + eta^T) A^T, and the Fisher metric of
MN(M, A A^T, B B^T) at eta = 0 does not depend on A, B or M:

    m (sum_{i>j} eta_ij^2 + 2 sum_i eta_ii^2)      for A, with n for m likewise for zeta of B (I + zeta),
    4 tr(eta) tr(zeta)                             between them: the scale of the product is in both factors

(twice the KL to second order). With G = d loss / dA, K = N tril(A^T G), the natural gradient is K_ij / m below
the diagonal and K_ii / (2 m) on it, less what both have of the common scale: tr K is the same for A and B, each is to
take half, which is tr K / (4 n m) of each diagonal entry. No matrix is inverted, and no entry of the metric estimated.

Means, and all that is not a Cholesky or diagonal factor of a matrix normal, are left to another transformation.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from plait._typing import Array
from plait.linalg.cholesky import CholeskyFactor
from plait.linalg.diagonal import DiagonalFactor
from plait.linalg.factor import Factor
from plait.linalg.triangular import pack_lower, unpack_lower
from plait.posterior import MatrixNormalPlusDiagonalPosterior, MatrixNormalPosterior


class FactorState(NamedTuple):
    """Of the other transformation, and moving averages of natural gradients by factor."""

    others: Any
    averages: list[tuple[Array, Array]]
    count: Array


def natural_factors(
    learning_rate: float,
    *,
    dataset_size: int,
    others: optax.GradientTransformation,
    momentum: float = 0.9,
    max_change: float = 0.1,
) -> optax.GradientTransformation:
    """An optax transformation for `plait.fit`: natural gradients for factors, `others` for the rest.

    Args:
        learning_rate: of the loss times `dataset_size`, in nats: at most 1, at which a step is Newton's near the best
            factors. Noisy gradients need less.
        dataset_size: the number of training examples that the KL is spread over.
        others: for means, biases and everything else.
        momentum: of the moving average of natural gradients, started at zero and corrected for it.
        max_change: a bound on the root mean square of eta over rows, so that no step leaves the region in which the
            metric holds.
    """
    if not 0 < learning_rate <= 1:
        raise ValueError(f"`learning_rate` of natural gradients must lie in (0, 1], got {learning_rate!r}")
    if not 0 <= momentum < 1:
        raise ValueError(f"`momentum` must lie in [0, 1), got {momentum!r}")
    if not max_change > 0:
        raise ValueError(f"`max_change` must be positive, got {max_change!r}")
    if isinstance(dataset_size, bool) or dataset_size < 1:
        raise ValueError(f"`dataset_size` is the number of training examples, got {dataset_size!r}")

    def init(params: Any) -> FactorState:
        nodes = _matrix_normals(params)
        if not nodes:
            raise ValueError("no weight has a matrix normal with Cholesky or diagonal factors; use `others` alone")
        averages = [(jnp.zeros_like(_tangent(q.rows)), jnp.zeros_like(_tangent(q.columns))) for q in nodes]
        return FactorState(others.init(_without_factors(params)), averages, jnp.zeros((), jnp.int32))

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, FactorState]:
        if params is None:
            raise ValueError("natural gradients depend on the parameters: `update(gradients, state, params)`")
        rest, inner = others.update(_without_factors(updates), state.others, _without_factors(params))
        count = state.count + 1
        averages, changes = [], []
        for q, g, old in zip(_matrix_normals(params), _matrix_normals(updates), state.averages, strict=True):
            natural = _natural(q, g)
            new = tuple(momentum * a + (1 - momentum) * dataset_size * b for a, b in zip(old, natural, strict=True))
            correction = 1 - momentum ** count.astype(new[0].dtype)
            steps = (_bounded(-learning_rate * value / correction, max_change) for value in new)
            averages.append(new)
            changes.append([_change(factor, eta) for factor, eta in zip((q.rows, q.columns), steps, strict=True)])
        return _with_factors(rest, changes), FactorState(inner, averages, count)

    return optax.GradientTransformation(init, update)


def _natural(q: MatrixNormalPosterior, g: MatrixNormalPosterior) -> tuple[Array, Array]:
    """Natural gradients of both factors, triangles or diagonals."""
    n, m = q.rows.size, q.columns.size
    pulled = _pulled(q.rows, g.rows), _pulled(q.columns, g.columns)
    common = _trace(pulled[0]) / (4 * n * m)
    return _scaled(pulled[0], m, common), _scaled(pulled[1], n, common)


def _pulled(factor: Factor, gradient: Factor) -> Array:
    """tril(A^T G), or its diagonal for a diagonal A; the gradient of a logarithm is that of the entry times it."""
    if isinstance(factor, DiagonalFactor):
        assert isinstance(gradient, DiagonalFactor)
        return gradient.log_scale
    assert isinstance(gradient, CholeskyFactor)
    root, entries = factor.matrix(), unpack_lower(gradient.packed, factor.size)
    on_diagonal = jnp.diagonal(entries) / jnp.diagonal(root)
    return jnp.tril(root.T @ (jnp.tril(entries, -1) + jnp.diag(on_diagonal)))


def _scaled(pulled: Array, other: int, common: Array) -> Array:
    if pulled.ndim == 1:
        return pulled / (2 * other) - common
    return jnp.tril(pulled, -1) / other + jnp.diag(jnp.diagonal(pulled) / (2 * other) - common)


def _trace(pulled: Array) -> Array:
    return jnp.sum(pulled) if pulled.ndim == 1 else jnp.trace(pulled)


def _bounded(eta: Array, most: float) -> Array:
    size = jnp.sqrt(jnp.sum(jnp.square(eta)) / eta.shape[0])
    return eta * jnp.minimum(1, most / jnp.maximum(size, jnp.finfo(eta.dtype).tiny))


def _change(factor: Factor, eta: Array) -> Factor:
    """What to add to the numbers of a factor, to first order in eta; logarithms keep the diagonal positive."""
    if isinstance(factor, DiagonalFactor):
        return DiagonalFactor(eta)
    below = jnp.tril(factor.matrix() @ eta, -1)
    return CholeskyFactor(pack_lower(below + jnp.diag(jnp.diagonal(eta))), factor.size)


def _tangent(factor: Factor) -> Array:
    return factor.log_scale if isinstance(factor, DiagonalFactor) else factor.matrix()


def _is_posterior(node: Any) -> bool:
    # The metric of a matrix normal plus noise is another.
    return isinstance(node, (MatrixNormalPosterior, MatrixNormalPlusDiagonalPosterior))


def _has_factors(node: Any) -> bool:
    known = (CholeskyFactor, DiagonalFactor)
    return isinstance(node, MatrixNormalPosterior) and all(isinstance(f, known) for f in (node.rows, node.columns))


def _matrix_normals(tree: Any) -> list[MatrixNormalPosterior]:
    return [node for node in jax.tree.leaves(tree, is_leaf=_is_posterior) if _has_factors(node)]


def _without_factors(tree: Any) -> Any:
    def cut(node: Any) -> Any:
        return eqx.tree_at(lambda q: (q.rows, q.columns), node, (None, None)) if _has_factors(node) else node

    return jax.tree.map(cut, tree, is_leaf=_is_posterior)


def _with_factors(tree: Any, changes: list[list[Factor]]) -> Any:
    remaining = iter(changes)

    def put(node: Any) -> Any:
        if not (isinstance(node, MatrixNormalPosterior) and node.rows is None):
            return node
        none = lambda value: value is None  # noqa: E731
        return eqx.tree_at(lambda q: (q.rows, q.columns), node, tuple(next(remaining)), is_leaf=none)

    return jax.tree.map(put, tree, is_leaf=_is_posterior)
