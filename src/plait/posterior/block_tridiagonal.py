"""Layers whose neighbours are correlated: the covariance is block tridiagonal (paper 004, section 3.3; MATH 3.4).

With layer i an n_i x m_i matrix, E_i standard normal, H_i = E_i / sqrt(1 - s_i t_i^T) and H_0 = 0:

    W_i - M_i = K_i H_i L_i^T - P_i H_{i-1} Q_i^T
    log det Cov = sum_i [ 2 m_i log|K_i| + 2 n_i log|L_i| - sum log(1 - s_i t_i^T) ]

(K_i, L_i) are K1, K2 of the conditional covariance of layer i given the next one, and P_i = PsiA^T K_{i-1},
Q_i = PsiG^T L_{i-1} carry the noise of a layer on to the next.
"""

import functools
import operator

import equinox as eqx
import jax.numpy as jnp

from plait._random import key_for, normal
from plait._typing import Array, Float, PRNGKey, Scalar
from plait.posterior.base import LOG_2_PI_E
from plait.posterior.joint import JointPosterior, Marginal
from plait.posterior.layer_matrix import LayerMatrix


class ChainedLayer(eqx.Module):
    """One layer of a chain."""

    mean: Float[Array, "n m"]
    rows: Float[Array, "n n"]
    """K."""
    columns: Float[Array, "m m"]
    """L."""
    row_share: Float[Array, " n"]
    """s: how much of each row axis the next layer explains; 0 in the last layer."""
    column_share: Float[Array, " m"]
    """t."""
    log_det: Scalar
    """m log|K| + n log|L|, kept because it takes a decomposition to find."""
    rows_from_before: Float[Array, "n p"] | None
    """P; None in the first layer."""
    columns_from_before: Float[Array, "m q"] | None
    """Q."""

    def precision(self) -> Array:
        """1 - s t^T, of H entry by entry."""
        return 1 - jnp.outer(self.row_share, self.column_share)

    def own(self, coordinates: Array) -> Array:
        """K H L^T."""
        return self.rows @ coordinates @ self.columns.T

    def carried(self, before: Array) -> Array:
        """P H L^T of the layer before."""
        assert self.rows_from_before is not None
        assert self.columns_from_before is not None
        return self.rows_from_before @ before @ self.columns_from_before.T


class BlockTridiagonalPosterior(JointPosterior):
    """The layers in order, each correlated with the next."""

    chain: tuple[ChainedLayer, ...]
    layers: tuple[LayerMatrix, ...] = eqx.field(static=True)

    @property
    def means(self) -> dict[str, Array]:
        return self._split([link.mean for link in self.chain])

    def _split(self, matrices: list[Array]) -> dict[str, Array]:
        parts = [layer.split(matrix) for layer, matrix in zip(self.layers, matrices, strict=True)]
        return functools.reduce(operator.or_, parts)

    def from_coordinates(self, coordinates: list[Array]) -> list[Array]:
        """The deviations W_i - M_i of given H_i."""
        deviations = [self.chain[0].own(coordinates[0])]
        for before, link, own in zip(coordinates, self.chain[1:], coordinates[1:], strict=False):
            deviations.append(link.own(own) - link.carried(before))
        return deviations

    def to_coordinates(self, gradients: list[Array]) -> list[Array]:
        """The transpose of `from_coordinates`."""
        found = []
        for i, (link, gradient) in enumerate(zip(self.chain, gradients, strict=True)):
            value = link.rows.T @ gradient @ link.columns
            if i + 1 < len(self.chain):
                after = self.chain[i + 1]
                assert after.rows_from_before is not None
                assert after.columns_from_before is not None
                value = value - after.rows_from_before.T @ gradients[i + 1] @ after.columns_from_before
            found.append(value)
        return found

    def covariance_times(self, gradients: list[Array]) -> list[Array]:
        """Sigma V for a matrix V of each layer."""
        coordinates = self.to_coordinates(gradients)
        return self.from_coordinates([h / link.precision() for h, link in zip(coordinates, self.chain, strict=True)])

    def sample(self, key: PRNGKey) -> dict[str, Array]:
        coordinates = [
            normal(key_for(key, layer.kernel), link.mean.shape, link.mean.dtype) / jnp.sqrt(link.precision())
            for layer, link in zip(self.layers, self.chain, strict=True)
        ]
        deviations = self.from_coordinates(coordinates)
        return self._split([link.mean + d for link, d in zip(self.chain, deviations, strict=True)])

    def log_prob(self, weights: dict[str, Array]) -> Scalar:
        before, quadratic = None, jnp.zeros((), self.chain[0].mean.dtype)
        for layer, link in zip(self.layers, self.chain, strict=True):
            residual = layer.join(weights) - link.mean
            residual = residual if before is None else residual + link.carried(before)
            before = jnp.linalg.solve(link.columns, jnp.linalg.solve(link.rows, residual).T).T
            quadratic = quadratic + jnp.sum(jnp.square(before) * link.precision())
        size = sum(link.mean.size for link in self.chain)
        return -0.5 * quadratic - self._half_log_det() - 0.5 * (LOG_2_PI_E - 1) * size

    def _half_log_det(self) -> Scalar:
        return _total([link.log_det - 0.5 * jnp.sum(jnp.log(link.precision())) for link in self.chain])

    def entropy(self) -> Scalar:
        return self._half_log_det() + 0.5 * LOG_2_PI_E * sum(link.mean.size for link in self.chain)

    def marginals(self) -> dict[str, Marginal]:
        means, variances, totals = self.means, [], []
        for i, link in enumerate(self.chain):
            terms = [(link.rows, 1 / link.precision(), link.columns)]
            if i > 0:
                assert link.rows_from_before is not None
                assert link.columns_from_before is not None
                terms.append((link.rows_from_before, 1 / self.chain[i - 1].precision(), link.columns_from_before))
            squares = [(jnp.square(rows), inner, jnp.square(columns)) for rows, inner, columns in terms]
            variances.append(_total([rows @ inner @ columns.T for rows, inner, columns in squares]))
            totals.append(_total([rows @ (inner @ jnp.sum(columns, axis=0)) for rows, inner, columns in squares]))
        split = self._split(variances)
        parts = [layer.split_rows(total) for layer, total in zip(self.layers, totals, strict=True)]
        rows = functools.reduce(operator.or_, parts)
        return {path: Marginal(mean, split[path], jnp.sum(rows[path])) for path, mean in means.items()}

    def covariance(self) -> Array:
        """Of all layers, each row by row; for small ones."""
        shapes = [link.mean.shape for link in self.chain]
        sizes = [n * m for n, m in shapes]
        blocks = []
        for i, (size, link) in enumerate(zip(sizes, self.chain, strict=True)):
            scale = (1 / jnp.sqrt(link.precision())).reshape(-1)
            unit = jnp.diag(scale).reshape(size, *shapes[i])
            columns = [jnp.zeros((other, size), scale.dtype) for other in sizes]
            columns[i] = jnp.einsum("ik,akl,jl->ija", link.rows, unit, link.columns).reshape(size, size)
            if i + 1 < len(self.chain):
                after = self.chain[i + 1]
                assert after.rows_from_before is not None
                carried = jnp.einsum("ik,akl,jl->ija", after.rows_from_before, unit, after.columns_from_before)
                columns[i + 1] = -carried.reshape(sizes[i + 1], size)
            blocks.append(jnp.concatenate(columns))
        root = jnp.concatenate(blocks, axis=1)
        return root @ root.T

    @property
    def num_params(self) -> int:
        arrays = [array for link in self.chain for array in vars(link).values() if array is not None]
        # The determinants follow from the rest.
        return sum(array.size for array in arrays) - len(self.chain)


def _total(terms: list[Array]) -> Array:
    return functools.reduce(operator.add, terms)
