"""Local reparametrisation: a draw of the pre-activation instead of the weight (Kingma et al. 2015).

y = x . M + a zero-mean draw with the covariance that the weight's noise gives at this application. Every example, and
every place of a convolution or sequence, has noise of its own: the marginal of each application is exact, applications
are independent.
"""

from plait._typing import Array, PRNGKey
from plait.estimator.base import Estimator
from plait.posterior.base import Posterior
from plait.site.base import Site


class Local(Estimator):
    """The lowest gradient variance where the family can draw pre-activations."""

    name = "local"

    def refusal(self, posterior: Posterior) -> str | None:
        return None if posterior.local else "it has no direct draw of the pre-activation"

    def apply(self, posterior: Posterior, site: Site, x: Array, key: PRNGKey) -> Array:
        linear = site.linear(x, posterior.mean)
        return site.finish(x, linear + posterior.output_noise(site, x, key).astype(linear.dtype))
