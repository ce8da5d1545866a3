"""Noisy natural gradient with a dense precision over all weights (paper 004, equations 8 and 9). For small networks.

    F <- (1 - b) F + b N / lambda E[g g^T],     Sigma = (F + P)^-1

E[g g^T] is one product G^T G of the matrix of examples' gradients, which here are formed: [examples, weights] numbers.
"""

from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from plait._typing import Array
from plait.linalg.cholesky import CholeskyFactor
from plait.linalg.decompositions import inverse_root
from plait.model import BayesianModel
from plait.natural.curvature import Curvature, Look, Priors
from plait.natural.fisher import Fisher
from plait.natural.method import NaturalGradient
from plait.natural.prior import gaussian_priors, mean_of, variance_of
from plait.posterior import JointFullCovariancePosterior
from plait.posterior.full_covariance import LARGEST


@dataclass(frozen=True)
class FullCurvature(Curvature):
    """A dense precision."""

    def find(self, bnn: BayesianModel) -> JointFullCovariancePosterior | None:
        for joint in bnn.joints:
            if isinstance(joint, JointFullCovariancePosterior) and set(joint.means) == set(self.paths):
                return joint
        return None

    def make(self, bnn: BayesianModel) -> JointFullCovariancePosterior:
        means = {path: mean_of(bnn, path) for path in sorted(self.paths)}
        scales = jnp.concatenate([jnp.sqrt(variance_of(bnn, path)).reshape(-1) for path in means])
        if scales.size > LARGEST:
            raise ValueError(
                f"NoisyFull keeps a dense matrix over all weights, and {scales.size:,} are more than {LARGEST:,}: use "
                "plait.NoisyKFAC"
            )
        return JointFullCovariancePosterior(means, CholeskyFactor.from_matrix(jnp.diag(scales)))

    def describe(self) -> str:
        return "FullCovariance(joint)"

    def start(self, value: JointFullCovariancePosterior, priors: Priors) -> Array:
        data = 1 / value.root.diagonal() - _precision(value, priors)
        return jnp.diag(jnp.maximum(data, 0))

    def summarise(self, look: Look, value: JointFullCovariancePosterior) -> Array:
        gradients = look.each_example()
        flat = jnp.concatenate([gradients[path].reshape(look.examples, -1) for path in value.means], axis=1)
        return flat.T @ flat / look.examples

    def absorb(
        self, value: Any, state: Array, seen: Any, priors: Priors, strength: Any, rate: Any
    ) -> tuple[Any, Array]:
        del priors
        return value, (1 - rate) * state + rate * strength * seen.astype(state.dtype)

    def refresh(self, value: JointFullCovariancePosterior, state: Array, priors: Priors, ridge: Any) -> tuple[Any, Any]:
        del ridge
        root = inverse_root(state + jnp.diag(_precision(value, priors)))
        return replace(value, root=CholeskyFactor.from_matrix(root)), state

    def direction(
        self, value: JointFullCovariancePosterior, state: Array, gradients: dict[str, Array], strength: Any, ridge: Any
    ) -> dict[str, Array]:
        del state, ridge
        root = value.root.matrix()
        return value.split(strength * (root @ (root.T @ value.join(gradients))))

    def move(self, value: JointFullCovariancePosterior, steps: dict[str, Array]) -> JointFullCovariancePosterior:
        return replace(value, means={path: mean + steps[path] for path, mean in value.means.items()})


def _precision(value: JointFullCovariancePosterior, priors: Priors) -> Array:
    """The diagonal of P."""
    return value.join({path: jnp.broadcast_to(priors[path].precision, m.shape) for path, m in value.means.items()})


class NoisyFull(NaturalGradient):
    """Natural gradient with a dense covariance over all weights of a small network."""

    fisher: Fisher = eqx.field(static=True, default="sampled")
    statistics_every: int = eqx.field(static=True, default=1)
    inverse_every: int = eqx.field(static=True, default=1)

    def __check_init__(self):
        if not (isinstance(self.damping, (int, float)) and self.damping == 0):
            raise ValueError(
                "NoisyFull takes steps and draws by one decomposition and no `damping`, got "
                f"{self.damping!r}; the prior damps"
            )

    def curvatures(self, bnn: BayesianModel) -> tuple[tuple[Curvature, ...], dict[str, str]]:
        return (FullCurvature(tuple(gaussian_priors(bnn))),), {}
