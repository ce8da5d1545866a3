"""The log-probabilities of all classes, where targets are classes: log p(y = c | outputs), classes last.

They stay logarithms: the mean of probabilities that underflow is log mean exp of these, and finite.
"""

import jax
import jax.numpy as jnp

from plait._typing import Array
from plait.likelihood import Bernoulli, Categorical, Likelihood
from plait.likelihood.base import Numbers, sum_event, wide


def class_log_probs(likelihood: Likelihood, outputs: Numbers) -> Array | None:
    """[..., classes], with the two classes of a binary target on a new last axis; None where targets are no classes."""
    if isinstance(likelihood, Categorical):
        return jax.nn.log_softmax(wide(outputs))
    if isinstance(likelihood, Bernoulli):
        logits = wide(outputs)
        return jnp.stack([jax.nn.log_sigmoid(-logits), jax.nn.log_sigmoid(logits)], axis=-1)
    return None


def pick_class(log_probs: Array, y: Numbers) -> Array:
    """The log-probability of each example's label, or of all its labels: [N]."""
    labels = jnp.asarray(y).astype(jnp.int32)
    return sum_event(jnp.take_along_axis(log_probs, labels[..., None], axis=-1)[..., 0], labels)
