"""KL(q || p) by one draw, log q(w) - log p(w), w ~ q, where a closed form exists: as the released rank-1 code has it.

For fidelity and for comparison: the mean is that of the prior it wraps, the variance is not zero (MATH 2.3).
"""

from plait._typing import Array, PRNGKey, Scalar
from plait.posterior.base import Posterior
from plait.prior.base import Prior
from plait.prior.hierarchical import HierarchicalNormal
from plait.site.layout import Kept, Layout


class Sampled(Prior):
    """A prior whose KL is drawn by Monte Carlo, entropy and all."""

    prior: Prior

    def __check_init__(self):
        if isinstance(self.prior, HierarchicalNormal):
            raise ValueError(
                "a HierarchicalNormal has no density to draw from before its variance is fitted: give it by itself, "
                "its KL is a closed form"
            )

    def bind(self, weight: Array, layout: Layout) -> Prior:
        return Sampled(self.prior.bind(weight, layout))

    def for_vectors(self) -> Prior:
        return Sampled(self.prior.for_vectors())

    def restricted(self, kept: Kept) -> Prior:
        return Sampled(self.prior.restricted(kept))

    def check(self, posterior: object) -> None:
        self.prior.check(posterior)

    def log_prob(self, weight: Array) -> Scalar:
        return self.prior.log_prob(weight)

    def kl(self, posterior: Posterior, *, key: PRNGKey | None) -> Scalar:
        if key is None:
            raise ValueError("a `Sampled` prior draws its KL by Monte Carlo and needs a key, `bnn.kl(key=...)`")
        weight = posterior.sample(key)
        return posterior.log_prob(weight) - self.prior.log_prob(weight)

    @property
    def num_params(self) -> int:
        return self.prior.num_params

    def describe(self) -> str:
        return f"Sampled({self.prior.describe()})"
