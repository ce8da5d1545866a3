"""Local reparametrisation: a draw of the pre-activation instead of the weight (Kingma et al. 2015).

y = x . M + a zero-mean draw with the covariance that the weight's noise gives at this application. Every example, and
every place of a convolution or sequence, has noise of its own: the marginal of each application is exact, applications
are independent.
"""

from plait._typing import Array, PRNGKey
from plait.estimator.base import Estimator
from plait.posterior.base import Posterior
from plait.posterior.pending import Pending
from plait.site.base import Site
from plait.site.elementwise import BiasSite


class Local(Estimator):
    """The lowest gradient variance where the family can draw pre-activations."""

    name = "local"

    def refusal(self, posterior: Posterior, groups: int = 1) -> str | None:
        return posterior.local_refusal(groups)

    def apply(self, posterior: Posterior, site: Site, x: Array, key: PRNGKey) -> Array | Pending:
        linear = site.linear(x, posterior.mean)
        if posterior.independent_outputs:
            return Pending(site.finish(x, linear), posterior.output_variance(site, x), key)
        return site.finish(x, linear + posterior.output_noise(site, x, key).astype(linear.dtype))

    def add(self, posterior: Posterior, site: Site, x: Pending) -> Pending | None:
        if not (isinstance(site, BiasSite) and posterior.independent_outputs):
            return None
        return x.plus(site.apply(x.mean, posterior.mean), posterior.output_variance(site, x.mean))
