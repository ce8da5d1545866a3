"""What a normal prior N(m, s^2) adds to the curvature and to the gradient: the precision s^-2 and the centre m."""

from typing import NamedTuple

import jax.numpy as jnp

from plait._typing import Array
from plait.model import BayesianModel
from plait.posterior import PointPosterior
from plait.prior import Normal


class GaussianPrior(NamedTuple):
    """Of one weight; numbers, or arrays with an entry for each of the weight's."""

    precision: Array
    mean: Array

    def pull(self, weight: Array) -> Array:
        """-grad log p(W)."""
        gap = weight - jnp.broadcast_to(self.mean, weight.shape)
        return jnp.broadcast_to(self.precision, weight.shape) * gap

    @property
    def is_scalar(self) -> bool:
        """Whether all entries have one precision."""
        return self.precision.ndim == 0


def gaussian_priors(bnn: BayesianModel) -> dict[str, GaussianPrior]:
    """The prior of each weight that has a distribution, by path; others than normal ones are refused."""
    names = dict(bnn.prior_names)
    found: dict[str, GaussianPrior] = {}
    for row in bnn.sites:
        if isinstance(bnn.posteriors.get(row.path), PointPosterior):
            continue
        prior = bnn.priors[names[row.path]]
        if not isinstance(prior, Normal):
            raise ValueError(
                f"natural-gradient methods need a normal prior with a given scale, `plait.Normal(s)` or "
                f"`plait.HeNormal()`, and {row.path!r} has {prior.describe()}"
            )
        dtype = mean_of(bnn, row.path).dtype
        precision = jnp.exp(-2 * jnp.asarray(prior.log_scale(), dtype))
        found[row.path] = GaussianPrior(precision, jnp.asarray(prior.mean, dtype))
    return found


def mean_of(bnn: BayesianModel, path: str) -> Array:
    """The mean of one weight, whatever posterior it is in."""
    if path in bnn.posteriors:
        return bnn.posteriors[path].mean
    return next(joint.means[path] for joint in bnn.joints if path in joint.means)


def variance_of(bnn: BayesianModel, path: str) -> Array:
    """Its variance."""
    if path in bnn.posteriors:
        return bnn.posteriors[path].variance
    return next(joint.marginals()[path].variance for joint in bnn.joints if path in joint.means)
