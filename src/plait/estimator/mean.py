"""Mean weights: y at E[W]."""

from plait._typing import Array, PRNGKey
from plait.estimator.base import Estimator, use_draw
from plait.posterior.base import Posterior
from plait.site.base import Site


class Mean(Estimator):
    """No noise."""

    name = "mean"

    def refusal(self, posterior: Posterior, groups: int = 1) -> str | None:
        del posterior, groups
        return None

    def apply(self, posterior: Posterior, site: Site, x: Array, key: PRNGKey) -> Array:
        del key
        return use_draw(posterior.center(), site, x)
