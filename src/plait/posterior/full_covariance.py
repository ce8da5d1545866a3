"""A dense covariance over all entries of one weight, or jointly of several: q = N(m, L L^T). For small weights.

(n m) (n m + 1) / 2 numbers: the reference that the structured families approximate.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._random import normal
from plait._typing import Array, PRNGKey, Scalar, Weight
from plait.linalg.cholesky import CholeskyFactor
from plait.posterior.base import LOG_2_PI_E, Family, Posterior, check_scale
from plait.posterior.joint import JointFamily, JointPosterior, Marginal
from plait.site.layout import Kept, Layout


class FullCovariancePosterior(Posterior):
    """A mean and a Cholesky factor over the flattened weight."""

    mean: Weight
    root: CholeskyFactor
    """L."""
    layout: Layout = eqx.field(static=True)

    local = False

    @property
    def variance(self) -> Array:
        return self.root.diagonal().reshape(self.mean.shape)

    def covariance(self) -> Array:
        return self.root.covariance()

    def sample(self, key: PRNGKey) -> Array:
        return self.mean + self.root.times(normal(key, (self.mean.size,), self.mean.dtype)).reshape(self.mean.shape)

    def log_prob(self, weight: Array) -> Scalar:
        return _log_prob(self.root, (weight - self.mean).reshape(-1))

    def entropy(self) -> Scalar:
        return self.root.log_det() + 0.5 * LOG_2_PI_E * self.mean.size

    def restricted(self, kept: Kept) -> Posterior:
        inside = np.arange(self.mean.size).reshape(self.mean.shape)[np.ix_(*kept)]
        layout = self.layout.restricted(kept)
        return FullCovariancePosterior(self.mean[np.ix_(*kept)], self.root.restricted(inside.reshape(-1)), layout)

    @property
    def num_params(self) -> int:
        return self.mean.size + self.root.num_params


class JointFullCovariancePosterior(JointPosterior):
    """One dense covariance over several weights, flattened and put end to end in the order of `means`."""

    means: dict[str, Weight]
    root: CholeskyFactor

    def split(self, flat: Array) -> dict[str, Array]:
        """Parts of a vector over all entries."""
        parts, start = {}, 0
        for path, mean in self.means.items():
            parts[path] = flat[start : start + mean.size].reshape(mean.shape)
            start += mean.size
        return parts

    def join(self, weights: dict[str, Array]) -> Array:
        """The vector over all entries."""
        return jnp.concatenate([weights[path].reshape(-1) for path in self.means])

    def sample(self, key: PRNGKey) -> dict[str, Array]:
        noise = self.split(self.root.times(normal(key, (self.root.size,), self.root.packed.dtype)))
        return {path: mean + noise[path] for path, mean in self.means.items()}

    def log_prob(self, weights: dict[str, Array]) -> Scalar:
        return _log_prob(self.root, self.join(weights) - self.join(self.means))

    def entropy(self) -> Scalar:
        return self.root.log_det() + 0.5 * LOG_2_PI_E * self.root.size

    def marginals(self) -> dict[str, Marginal]:
        variances = self.split(self.root.diagonal())
        return {path: Marginal(mean, variances[path]) for path, mean in self.means.items()}

    def covariance(self) -> Array:
        return self.root.covariance()

    @property
    def num_params(self) -> int:
        return sum(mean.size for mean in self.means.values()) + self.root.num_params


def _log_prob(root: CholeskyFactor, residual: Array) -> Scalar:
    whitened = root.solve(residual)
    return -0.5 * jnp.sum(jnp.square(whitened)) - root.log_det() - 0.5 * (LOG_2_PI_E - 1) * residual.size


LARGEST = 20_000
"""Entries beyond which a dense covariance (1.6 GB in float32) is refused as a mistake."""


@dataclass(frozen=True)
class FullCovariance(Family, JointFamily):
    """A dense covariance over one weight; with `joint=True` over all weights it is assigned to."""

    init_scale: float = 0.01
    joint: bool = False

    def __post_init__(self):
        check_scale(self.init_scale, "init_scale")

    def _root(self, size: int, dtype) -> CholeskyFactor:
        if size > LARGEST:
            raise ValueError(
                f"a full covariance over {size:,} entries stores {size * (size + 1) // 2:,} numbers; it is meant for "
                f"at most {LARGEST:,} entries. Use Tied, MatrixNormal or LowRank"
            )
        return CholeskyFactor.isotropic(size, self.init_scale, dtype)

    def initialise(self, weight: Array, layout: Layout, *, key: PRNGKey) -> Posterior:
        del key
        return FullCovariancePosterior(weight, self._root(weight.size, weight.dtype), layout)

    def initialise_joint(
        self, weights: dict[str, Array], layouts: dict[str, Layout], *, key: PRNGKey
    ) -> JointPosterior:
        del layouts, key
        size = sum(weight.size for weight in weights.values())
        dtype = jax.tree.leaves(weights)[0].dtype
        return JointFullCovariancePosterior(weights, self._root(size, dtype))

    @property
    def default_estimator(self) -> str:
        return "weights"

    def describe(self) -> str:
        return "FullCovariance(joint)" if self.joint else "FullCovariance"
