"""One draw of the weight, shared by the whole batch and by every use of the weight (Blundell et al. 2015)."""

from plait._typing import Array, PRNGKey
from plait.estimator.base import Estimator, use_draw
from plait.posterior.base import Posterior
from plait.site.base import Site


class Weights(Estimator):
    """The draw is the same for every example: unbiased for every family, with the largest gradient variance."""

    name = "weights"
    draws_weights = True

    def refusal(self, posterior: Posterior, groups: int = 1) -> str | None:
        del posterior, groups
        return None

    def apply(self, posterior: Posterior, site: Site, x: Array, key: PRNGKey) -> Array:
        return use_draw(posterior.draw(key), site, x)
