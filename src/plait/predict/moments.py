"""Running moments of a uniform mixture of members (weight samples, components), merged as in Chan et al. 1979:

    n = n_a + n_b      mean = (n_a mean_a + n_b mean_b) / n      spread = spread_a + spread_b + d^2 n_a n_b / n

d the difference of the means. Probabilities are summed as logarithms, so that none underflows.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import Array
from plait.likelihood import Likelihood
from plait.likelihood.base import Numbers
from plait.objective.class_log_probs import class_log_probs


class Moments(eqx.Module):
    """What some members say of a batch. Its size does not depend on how many they are."""

    count: Numbers
    """Members."""
    mean: Numbers
    """Of E[y | f_m]."""
    spread: Numbers
    """Sum of squared deviations of E[y | f_m] from its mean."""
    noise: Numbers
    """Mean of Var[y | f_m]."""
    log_probs: Numbers | None
    """Of classes, on the last axis: log sum_m p_m."""
    entropy: Numbers | None
    """Of classes: mean of H[y | f_m]."""
    log_likelihood: Numbers | None
    """With targets: log sum_m p(y | f_m), for each example."""
    expected_log_prob: Numbers | None
    """With targets: mean of `Likelihood.expected_log_prob`, for each example."""
    below: Numbers | None
    """With targets and draws: the fraction of draws below the target."""

    @classmethod
    def of(cls, likelihood: Likelihood, outputs: Array, y: Array | None, draws: Array | None) -> "Moments":
        """Those of a few members, on the first axis."""
        means = likelihood.mean(outputs)
        mean = jnp.mean(means, axis=0)
        log_probs = class_log_probs(likelihood, outputs)
        terms = None if y is None else likelihood.log_prob(outputs, y)
        bounds = None if y is None else likelihood.expected_log_prob(outputs, y)
        below = None
        if y is not None and draws is not None:
            targets = y.astype(draws.dtype)[None]
            below = jnp.mean(jnp.where(draws < targets, 1.0, jnp.where(draws == targets, 0.5, 0.0)), axis=0)
        return cls(
            jnp.asarray(outputs.shape[0], mean.dtype),
            mean,
            jnp.sum(jnp.square(means - mean[None]), axis=0),
            jnp.mean(likelihood.variance(outputs), axis=0),
            None if log_probs is None else jax.nn.logsumexp(log_probs, axis=0),
            None if log_probs is None else jnp.mean(likelihood.entropy(outputs), axis=0),
            None if terms is None else jax.nn.logsumexp(terms, axis=0),
            None if bounds is None else jnp.mean(bounds, axis=0),
            below,
        )

    @classmethod
    def empty(cls, shapes: Any) -> "Moments":
        """Those of no member, for arrays of the given shapes and dtypes."""
        zeros: Moments = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        # The logarithm of an empty sum.
        logarithms = jax.tree.map(
            lambda leaf: jnp.full(leaf.shape, -jnp.inf, leaf.dtype), (shapes.log_probs, shapes.log_likelihood)
        )
        return eqx.tree_at(lambda m: (m.log_probs, m.log_likelihood), zeros, logarithms, is_leaf=lambda x: x is None)

    def merge(self, other: "Moments") -> "Moments":
        """Those of both, of which the other is not empty."""
        count = self.count + other.count
        share = other.count / count

        def average(first: Numbers, second: Numbers) -> Numbers:
            # Not first + share (second - first): log p may be -inf in both.
            return (1 - share) * first + share * second

        return Moments(
            count,
            average(self.mean, other.mean),
            self.spread + other.spread + jnp.square(self.mean - other.mean) * self.count * share,
            average(self.noise, other.noise),
            jax.tree.map(jnp.logaddexp, self.log_probs, other.log_probs),
            jax.tree.map(average, self.entropy, other.entropy),
            jax.tree.map(jnp.logaddexp, self.log_likelihood, other.log_likelihood),
            jax.tree.map(average, self.expected_log_prob, other.expected_log_prob),
            jax.tree.map(average, self.below, other.below),
        )
