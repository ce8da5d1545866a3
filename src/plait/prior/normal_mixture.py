"""A mixture of normals for each entry: p(w) = sum_j pi_j N(w; m_j, s_j^2). Its KL has no closed form.

With means 1 and -1 it is the prior of rank-1 factors that start as random signs (paper 003).
"""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import Array, Scalar
from plait.prior.base import Prior, check_moments, check_positive


class NormalMixture(Prior):
    """Each entry comes from one of several normals."""

    means: tuple[float, ...] = eqx.field(static=True, default=(1.0, -1.0))
    scales: tuple[float, ...] = eqx.field(static=True, default=(0.1, 0.1))
    """Standard deviations."""
    weights: tuple[float, ...] | None = eqx.field(static=True, default=None)
    """Probabilities; equal ones by default."""

    def __check_init__(self):
        for scale in self.scales:
            check_positive(scale, "scales", "NormalMixture")
        lengths = {len(self.means), len(self.scales), len(self._weights())}
        if len(lengths) != 1 or not self.means:
            raise ValueError(
                f"NormalMixture: `means`, `scales` and `weights` must have an entry for each part, got "
                f"{len(self.means)}, {len(self.scales)} and {len(self._weights())}"
            )
        if min(self._weights()) <= 0 or not math.isclose(sum(self._weights()), 1, rel_tol=1e-6):
            raise ValueError(f"NormalMixture: `weights` must be positive and sum to 1, got {self._weights()}")

    def _weights(self) -> tuple[float, ...]:
        return (1 / len(self.means),) * len(self.means) if self.weights is None else self.weights

    def log_prob(self, weight: Array) -> Scalar:
        parts = [
            math.log(probability) - 0.5 * jnp.square((weight - mean) / scale) - math.log(scale * math.sqrt(2 * math.pi))
            for mean, scale, probability in zip(self.means, self.scales, self._weights(), strict=True)
        ]
        return jnp.sum(jax.nn.logsumexp(jnp.stack(parts), axis=0))

    def check(self, posterior: Any) -> None:
        check_moments(self, posterior)

    def describe(self) -> str:
        return f"NormalMixture({len(self.means)})"
