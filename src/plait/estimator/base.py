"""What happens when a random weight meets an activation. The random key enters here and nowhere else.

An estimator is stateless. A new one is one file and one entry in `ESTIMATORS`.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

from plait._typing import Array, PRNGKey
from plait.posterior.base import Posterior, StructuredDraw
from plait.site.base import Site


class Estimator(ABC):
    """How one site turns an activation and a posterior into a result."""

    name: ClassVar[str]
    draws_weights: ClassVar[bool] = False
    """Whether it uses one draw of the weight for the whole call, which all uses of the weight can share."""
    per_example: ClassVar[bool] = False
    """Whether that draw is made for each example."""

    @abstractmethod
    def refusal(self, posterior: Posterior) -> str | None:
        """Why it cannot be used with a posterior, or None."""

    @abstractmethod
    def apply(self, posterior: Posterior, site: Site, x: Array, key: PRNGKey) -> Array:
        """The site's result, for a posterior of the site's (windowed) weight."""


def use_draw(draw: Array | StructuredDraw, site: Site, x: Array) -> Array:
    """The site's result for one draw of its whole weight."""
    return draw.apply(site, x) if isinstance(draw, StructuredDraw) else site.apply(x, site.view.cut(draw))
