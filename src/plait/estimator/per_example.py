"""One draw of the weight for each example, where the family has a form of it that costs no more than one (rank-1)."""

from plait._typing import Array, PRNGKey
from plait.estimator.base import Estimator, use_draw
from plait.posterior.base import Posterior
from plait.site.base import Site


class PerExample(Estimator):
    """The draw is shared by every use of the weight and every step of a scan, within an example."""

    name = "per_example"
    draws_weights = True
    per_example = True

    def refusal(self, posterior: Posterior, groups: int = 1) -> str | None:
        del groups
        return None if posterior.per_example else "a weight for each example would have to be formed"

    def apply(self, posterior: Posterior, site: Site, x: Array, key: PRNGKey) -> Array:
        axis = site.x_example_axis if site.x_example_axis is not None else site.y_example_axis
        shape = site.x.shape if site.x_example_axis is not None else site.y.shape
        return use_draw(posterior.draw(key, None if axis is None else shape[axis]), site, x)
