"""The KL of a rank-1 mixture as it is, by Monte Carlo, where training uses a bound (paper 003, MATH 2.3):

    KL(1/K sum_k q_k || p) = E log[1/K sum_k q_k(r, s)] - log p(r, s)        r, s ~ the mixture, over all layers at once

It lies between mean_k KL(q_k || p) - log K, where the components are far apart, and mean_k KL(q_k || p), where they are
equal. A component is one for all layers together: log q_k is summed over layers and entries before components are
summed over.
"""

import math
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._random import check_key
from plait._typing import Array, PRNGKey, Scalar
from plait.metrics import Estimate
from plait.model import BayesianModel
from plait.posterior import Posterior
from plait.prior import Prior


def mixture_kl(bnn: BayesianModel, *, key: PRNGKey, num_samples: int = 64) -> Estimate:
    """KL of the mixture in nats, with its standard error over draws; `num_samples` of each component.

    Weights without components enter with the KL that they have in `bnn.kl()`.
    """
    check_key(key)
    if bnn.components is None:
        raise ValueError("`mixture_kl` is of a model with components, and this one has none: its KL is `bnn.kl()`")
    if num_samples < 2:
        raise ValueError(f"`num_samples` must be at least 2, to see how draws differ; got {num_samples!r}")
    ratios, rest = _log_ratios(bnn, key, num_samples)
    # Equally many draws of each component: only the spread within components counts.
    error = math.sqrt(float(jnp.mean(jnp.var(ratios, axis=1, ddof=1))) / ratios.size)
    return Estimate(float(jnp.mean(ratios)) + float(rest), error)


@eqx.filter_jit
def _log_ratios(bnn: BayesianModel, key: PRNGKey, num_samples: int) -> tuple[Array, Scalar]:
    """log q - log p of each draw, [K, num_samples], and the KL of what has no components."""
    count, names = bnn.components, dict(bnn.prior_names)
    assert count is not None
    mixed = [path for path, q in bnn.posteriors.items() if q.components is not None and q.parts()]
    rest_key, draw_key = jax.random.split(key)
    terms = bnn.kl_by_weight(key=rest_key)
    rest = sum((term for path, term in terms.items() if path not in mixed), start=jnp.zeros(()))

    def factors(index: Array) -> list[tuple[Prior, Posterior]]:
        parts = [(path, part) for path in mixed for _, part in bnn.posteriors[path].component(index).parts()]
        return [(bnn.priors[names[path]], part) for path, part in parts]

    def log_ratio(index: Array, key: PRNGKey) -> Scalar:
        own = factors(index)
        draws = [part.sample(k) for (_, part), k in zip(own, jax.random.split(key, len(own)), strict=True)]

        def log_density(other: Array) -> Scalar:
            return _total([part.log_prob(w) for (_, part), w in zip(factors(other), draws, strict=True)])

        log_q = jax.nn.logsumexp(jax.vmap(log_density)(jnp.arange(count))) - math.log(count)
        return log_q - _total([prior.log_prob(w) for (prior, _), w in zip(own, draws, strict=True)])

    each: Callable[..., Array] = jax.vmap(jax.vmap(log_ratio, in_axes=(None, 0)))
    return each(jnp.arange(count), jax.random.split(draw_key, (count, num_samples))), rest


def _total(terms: list[Scalar]) -> Scalar:
    return jnp.sum(jnp.stack(terms)) if terms else jnp.zeros(())
