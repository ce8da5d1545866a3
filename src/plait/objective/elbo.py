"""The negative evidence lower bound, per example:

    loss = -1/B sum_n E_q[log p(y_n | x_n, W)] + kl_weight * KL(q || p) / N

KL is in nats over all weights and N is the number of training examples, whatever the batch size B. With mixture
components the expectation is also over components.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from plait._random import check_key
from plait._typing import Array, PRNGKey, Scalar
from plait.likelihood import Likelihood
from plait.model import BayesianModel
from plait.objective.reduction import negative_log_likelihood


class Aux(NamedTuple):
    """The parts of the loss."""

    nll: Scalar
    """Negative log-likelihood per example, averaged over the batch, weight samples and components."""
    kl: Scalar
    """KL(q || p) in nats of all weights, and of the likelihood's own unknowns; not divided by anything."""


def elbo(
    bnn: BayesianModel,
    batch: tuple[Any, Array],
    *,
    key: PRNGKey,
    likelihood: Likelihood,
    dataset_size: int,
    kl_weight: Any = 1.0,
    num_samples: int = 1,
    reduction: str = "average",
    output: Callable[[Any], Array] = lambda outputs: outputs,
) -> tuple[Scalar, Aux]:
    """The loss to minimise (negative ELBO per example), and its parts.

    Args:
        bnn: the model.
        batch: `(x, y)`, or `((x, *further inputs), y)`.
        key: for the weight noise.
        likelihood: of targets given outputs.
        dataset_size: the number of training examples N that the KL is spread over; never guessed from the batch.
        kl_weight: a factor on the KL, for annealing or tempering.
        num_samples: weight samples to average over.
        reduction: how weight samples and components are averaged: "average" their negative log-likelihoods, which is
            what the bound asks for, or score their "mixture", their "marginal_probability" or their "marginal_logits".
        output: picks the likelihood's input from the model's outputs, where these are more than one array.
    """
    check_key(key)
    if not isinstance(dataset_size, int) or dataset_size < 1:
        raise ValueError(f"`dataset_size` is the number of training examples, a positive integer; got {dataset_size!r}")
    if not isinstance(num_samples, int) or num_samples < 1:
        raise ValueError(f"`num_samples` must be a positive integer, got {num_samples!r}")
    x, y = batch
    inputs = x if isinstance(x, tuple) else (x,)
    noise_key, kl_key = jax.random.split(key)
    if num_samples == 1:
        outputs = output(bnn(*inputs, key=noise_key))
    else:
        outputs = jax.vmap(lambda k: output(bnn(*inputs, key=k)))(jax.random.split(noise_key, num_samples))
    leading = (num_samples > 1) + (bnn.components is not None)
    likelihood.check(outputs.shape[leading:], y.shape, y.dtype)
    nll = jnp.mean(negative_log_likelihood(likelihood, outputs, y, reduction))
    kl = bnn.kl(key=kl_key) + likelihood.kl()
    return nll + kl_weight * kl / dataset_size, Aux(nll, kl)
