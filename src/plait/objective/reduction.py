"""Four readings of the negative log-likelihood of M members, weight samples or components (paper 003, appendix E).

    average                1/M sum_m -log p(y | f_m)              eq. 13, the Gibbs loss: it bounds the evidence
    mixture                -logsumexp_m log p(y | f_m) + log M    eq. 14, corrected: the print has a maximum (MATH 2.8)
    marginal_probability   -log p(y | 1/M sum_m p_m)              eq. 12, classes only
    marginal_logits        -log p(y | 1/M sum_m f_m)              eq. 11

Jensen: mixture <= average, and marginal_logits <= average where the loss is convex in the outputs. For one label an
example, marginal_probability is mixture; for several labels it averages each label's probabilities alone.
"""

import math

import jax
import jax.numpy as jnp

from plait._typing import Array
from plait.likelihood import Likelihood
from plait.likelihood.base import Numbers, wide
from plait.objective.class_log_probs import class_log_probs, pick_class

REDUCTIONS = ("average", "mixture", "marginal_probability", "marginal_logits")


def check_reduction(reduction: str, likelihood: Likelihood) -> None:
    """Refuse an unknown reading, or one that the likelihood does not have."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"`reduction` must be one of {', '.join(map(repr, REDUCTIONS))}, got {reduction!r}")
    if reduction == "marginal_probability" and likelihood.task not in ("classification", "binary"):
        raise ValueError(
            f"reduction 'marginal_probability' averages probabilities of classes, and {type(likelihood).__name__} has "
            "none; 'mixture' averages densities"
        )


def negative_log_likelihood(likelihood: Likelihood, outputs: Array, y: Numbers, reduction: str = "average") -> Array:
    """For each example, [N]; the outputs may have leading axes of members."""
    check_reduction(reduction, likelihood)
    if reduction == "average":
        terms = likelihood.expected_log_prob(outputs, y)
        return -jnp.mean(terms, axis=tuple(range(terms.ndim - 1)))
    terms = likelihood.log_prob(outputs, y)
    leading = tuple(range(terms.ndim - 1))
    if not leading:
        return -terms
    log_members = math.log(math.prod(terms.shape[:-1]))
    if reduction == "mixture":
        return log_members - jax.nn.logsumexp(terms, axis=leading)
    if reduction == "marginal_logits":
        return -likelihood.log_prob(jnp.mean(wide(outputs), axis=leading), y)
    log_probs = class_log_probs(likelihood, outputs)
    assert log_probs is not None
    return -pick_class(jax.nn.logsumexp(log_probs, axis=leading) - log_members, y)
