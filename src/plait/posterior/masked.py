"""A weight some of whose entries are zero: W o mask for W of another posterior.

The entries that are left are distributed as before. The KL is that of the posterior underneath: W o mask is a function
of W under q and p alike, so what is left has at most that KL, and the ELBO stays a bound. Under ARD, what is masked
costs next to nothing.
"""

import jax.numpy as jnp
import numpy as np

from plait._typing import Array, PRNGKey, Scalar
from plait.posterior.base import Posterior
from plait.site.base import Site
from plait.site.layout import Kept, Layout
from plait.site.view import WeightView


class MaskedPosterior(Posterior):
    """A posterior and which of its entries are kept. The mask is not trained."""

    weight: Posterior
    mask: Array
    """Booleans in the weight's shape."""

    def __check_init__(self):
        if self.mask.dtype != bool or self.mask.shape != self.weight.mean.shape:
            raise ValueError(
                f"a mask has a boolean for each entry of a weight of shape {self.weight.mean.shape}, got "
                f"{self.mask.dtype} of shape {self.mask.shape}"
            )

    @property
    def layout(self) -> Layout:
        return self.weight.layout

    @property
    def mean(self) -> Array:
        return self._masked(self.weight.mean)

    def _masked(self, value: Array) -> Array:
        return jnp.where(self.mask, value, 0)

    @property
    def independent(self) -> bool:
        return self.weight.independent

    def local_refusal(self, groups: int) -> str | None:
        return self.weight.local_refusal(groups) if self.independent else None

    @property
    def variance(self) -> Array:
        return self._masked(self.weight.variance)

    def covariance(self) -> Array:
        inside = self.mask.reshape(-1)
        return jnp.where(inside[:, None] & inside[None], self.weight.covariance(), 0)

    def sample(self, key: PRNGKey) -> Array:
        return self._masked(self.weight.sample(key))

    def log_prob(self, weight: Array) -> Scalar:
        raise ValueError(
            f"a masked weight has no density: {int(jnp.sum(~self.mask))} of its {weight.size} entries are always zero"
        )

    def entropy(self) -> Scalar:
        return jnp.asarray(-jnp.inf, self.mean.dtype)

    def parts(self) -> list[tuple[float, Posterior]]:
        return self.weight.parts()

    @property
    def independent_outputs(self) -> bool:
        return self.independent

    def output_noise(self, site: Site, x: Array, key: PRNGKey) -> Array:
        if self.independent:
            return super().output_noise(site, x, key)
        # A mask destroys the structure that makes noise of each application cheap: one weight serves them all.
        return site.linear(x, self.sample(key) - self.mean)

    def windowed(self, view: WeightView) -> Posterior | None:
        weight = self.weight.windowed(view)
        return None if weight is None else MaskedPosterior(weight, view.cut(self.mask))

    def restricted(self, kept: Kept) -> Posterior | None:
        weight = self.weight.restricted(kept)
        if weight is None:
            return None
        mask = self.mask[np.ix_(*kept)]
        return weight if bool(jnp.all(mask)) else MaskedPosterior(weight, mask)

    @property
    def num_params(self) -> int:
        return self.weight.num_params
