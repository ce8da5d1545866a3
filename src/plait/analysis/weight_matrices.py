"""The weights of a model as matrices, in double precision on the host.

Rows are the fan-in side, columns the fan-out side, whatever the order of axes in memory: a convolution's kernel becomes
[taps and input channels, output channels], as in paper 000, appendix D.3. Biases and scales have no matrix.
"""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from plait._typing import Array
from plait.model import BayesianModel, SiteRow
from plait.posterior import PointPosterior


@dataclass(frozen=True, eq=False)
class WeightMatrix:
    """One weight."""

    path: str
    kind: str
    mean: np.ndarray
    """[fan_in, fan_out]."""
    std: np.ndarray | None
    """[fan_in, fan_out], of the marginals; None for a constant, and where there is no variance."""


def weight_matrices(bnn: BayesianModel) -> list[WeightMatrix]:
    """Every weight that has a fan-in side."""
    found = [_matrix_of(bnn, row) for row in bnn.sites if not row.layout.is_vector]
    if not found:
        raise ValueError(
            "no weight of this model is a matrix: none has a fan-in side; `print` it to see what was found"
        )
    return found


def as_matrix(tensor: Array, row: SiteRow) -> np.ndarray:
    """A tensor of a weight's shape as a matrix."""
    if tensor.shape != row.shape:
        raise ValueError(
            f"{row.path!r} should have the shape {row.shape}, got {tensor.shape}: models that were trained side by "
            "side are analysed one by one, see `Fit.unstack()`"
        )
    return np.asarray(row.layout.to_matrix(tensor), np.float64)


def _matrix_of(bnn: BayesianModel, row: SiteRow) -> WeightMatrix:
    path = row.path
    if path in bnn.posteriors:
        posterior = bnn.posteriors[path]
        spread = posterior.has_moments and not isinstance(posterior, PointPosterior)
        mean, variance = posterior.mean, posterior.variance if spread else None
    else:
        marginal = next(joint.marginals()[path] for joint in bnn.joints if path in joint.means)
        mean, variance = marginal.mean, marginal.variance
    std = None if variance is None else as_matrix(jnp.sqrt(variance), row)
    return WeightMatrix(path, row.kind, as_matrix(mean, row), std)
