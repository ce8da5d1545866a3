"""A kernel and its bias under one distribution: any family of a matrix, over the matrix of both."""

import equinox as eqx
import jax.numpy as jnp

from plait._typing import Array, PRNGKey, Scalar
from plait.posterior.base import Posterior
from plait.posterior.joint import JointPosterior, Marginal
from plait.posterior.layer_matrix import LayerMatrix


class LayerPosterior(JointPosterior):
    """The posterior of one layer's matrix, [[kernel], [bias]]."""

    matrix: Posterior
    layer: LayerMatrix = eqx.field(static=True)

    @property
    def means(self) -> dict[str, Array]:
        return self.layer.split(self.matrix.mean)

    def sample(self, key: PRNGKey) -> dict[str, Array]:
        return self.layer.split(self.matrix.sample(key))

    def log_prob(self, weights: dict[str, Array]) -> Scalar:
        return self.matrix.log_prob(self.layer.join(weights))

    def entropy(self) -> Scalar:
        return self.matrix.entropy()

    def marginals(self) -> dict[str, Marginal]:
        variances = self.layer.split(self.matrix.variance)
        totals = self.layer.split_rows(self.matrix.row_variances())
        return {path: Marginal(mean, variances[path], jnp.sum(totals[path])) for path, mean in self.means.items()}

    def covariance(self) -> Array:
        """Of the matrix, row by row."""
        return self.matrix.covariance()

    @property
    def num_params(self) -> int:
        return self.matrix.num_params
