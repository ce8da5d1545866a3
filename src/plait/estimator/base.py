"""What happens when a random weight meets an activation. The random key enters here and nowhere else.

An estimator is stateless. A new one is one file and one entry in `ESTIMATORS`.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

from plait._typing import Array, PRNGKey
from plait.posterior.base import Posterior, StructuredDraw
from plait.posterior.pending import Pending
from plait.site.base import Site


class Estimator(ABC):
    """How one site turns an activation and a posterior into a result."""

    name: ClassVar[str]
    draws_weights: ClassVar[bool] = False
    """Whether it uses one draw of the weight for the whole call, which all uses of the weight can share."""
    per_example: ClassVar[bool] = False
    """Whether that draw is made for each example."""

    @abstractmethod
    def refusal(self, posterior: Posterior, groups: int = 1) -> str | None:
        """Why it cannot be used with a posterior of a weight whose sites have so many groups, or None."""

    @abstractmethod
    def apply(self, posterior: Posterior, site: Site, x: Array, key: PRNGKey) -> Array | Pending:
        """The site's result, for a posterior of the site's (windowed) weight."""

    def add(self, posterior: Posterior, site: Site, x: Pending) -> Pending | None:
        """The result of a site whose activation has noise still to be drawn, or None where it must be drawn first."""
        del posterior, site, x
        return None


def use_draw(draw: Array | StructuredDraw, site: Site, x: Array) -> Array:
    """The site's result for one draw of its whole weight."""
    return draw.apply(site, x) if isinstance(draw, StructuredDraw) else site.apply(x, site.view.cut(draw))
