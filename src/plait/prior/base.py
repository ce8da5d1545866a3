"""A prior: independent entries with a density, and what KL(q || p) asks of it.

    KL(q || p) = E_q[-log p(W)] - H[q]

The posterior owns the entropy, the prior owns the cross-entropy. Where the cross-entropy depends on the posterior only
through its first two moments it is closed form for every family at once; where not, it is one Monte Carlo draw.
"""

from abc import abstractmethod
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._compat import Tracer
from plait._typing import Array, PRNGKey, Scalar
from plait.posterior.base import Posterior
from plait.site.layout import Kept, Layout

Route = Literal["exact", "bound", "Monte Carlo"]


class Prior(eqx.Module):
    """A density over one weight tensor."""

    def bind(self, weight: Array, layout: Layout) -> "Prior":
        """The prior of one weight, where it depends on the weight's fan-in or on its given value."""
        del weight, layout
        return self

    def for_vectors(self) -> "Prior":
        """What weights without a fan-in side get, where a model is given one prior for all its weights."""
        return self

    def restricted(self, kept: Kept) -> "Prior":
        """The prior of the entries kept on each axis of a weight it is bound to."""
        del kept
        return self

    @abstractmethod
    def log_prob(self, weight: Array) -> Scalar:
        """log p(W) in nats."""

    def cross_entropy(self, posterior: Any) -> Scalar | None:
        """E_q[-log p(W)] where a closed form exists, else None."""
        del posterior
        return None

    def check(self, posterior: Any) -> None:
        """Refuse a posterior against which the KL is infinite."""
        del posterior

    def route(self, posterior: Any) -> Route:
        """How `kl` is obtained for a posterior."""
        if eqx.filter_eval_shape(self.cross_entropy, posterior) is None:
            return "Monte Carlo"
        return posterior.entropy_is

    def kl(self, posterior: Posterior, *, key: PRNGKey | None) -> Scalar:
        """KL(q || p) in nats: exact, an upper bound of it, or one Monte Carlo draw. See `route`."""
        cross = self.cross_entropy(posterior)
        if cross is None:
            if key is None:
                raise ValueError(
                    f"KL({type(posterior).__name__} || {type(self).__name__}) has no closed form: it is drawn by "
                    "Monte Carlo and needs a key, `bnn.kl(key=...)`"
                )
            cross = -self.log_prob(posterior.sample(key))
        return cross - posterior.entropy()

    @property
    def num_params(self) -> int:
        """Trained numbers."""
        return 0

    def describe(self) -> str:
        """How the site table names it."""
        return type(self).__name__


def check_moments(prior: Prior, posterior: Any) -> None:
    """Refuse a posterior whose variance is infinite."""
    if not posterior.has_moments:
        raise ValueError(
            f"KL({type(posterior).__name__} || {type(prior).__name__}) is infinite: a posterior without moments "
            "needs a heavy-tailed prior such as `plait.Cauchy(scale)`"
        )


def check_positive(value: Any, name: str, owner: str) -> None:
    """Refuse a number, or an array with an entry, that is no standard deviation."""
    fine = True
    if isinstance(value, (int, float)):
        fine = 0 < value < float("inf")
    elif isinstance(value, jax.Array) and not isinstance(value, Tracer):
        fine = bool(jnp.all((value > 0) & jnp.isfinite(value)))
    if not fine:
        raise ValueError(f"{owner}: `{name}` is a standard deviation and must be positive, got {value!r}")
