"""The likelihood's own numbers: the noise of a regression, say. In closed form where that is known, or by gradients.

theta <- (1 - r) theta + r theta*(batch)          or          theta <- theta + u(grad [nll + lambda / N KL(theta)])
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from plait._typing import Array
from plait.likelihood import Likelihood


def check_noise(noise: Any) -> None:
    """Refuse what is neither a rate nor an optax transformation."""
    if isinstance(noise, (int, float)) and not isinstance(noise, bool) and 0 <= noise <= 1:
        return
    if not (hasattr(noise, "init") and hasattr(noise, "update")):
        raise ValueError(
            "`noise` says how the likelihood's own numbers are trained: a rate in [0, 1] of their closed-form update, "
            f"or an optax transformation; got {noise!r}"
        )


def _parameters(likelihood: Likelihood) -> tuple[Any, Any]:
    return eqx.partition(likelihood, eqx.is_inexact_array)


def start_noise(noise: Any, likelihood: Likelihood | None) -> Any:
    """The state of the optax transformation, if it is one."""
    if likelihood is None:
        return None
    if hasattr(noise, "init"):
        with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
            return noise.init(_parameters(likelihood)[0])
    if likelihood.num_params and type(likelihood).updated is Likelihood.updated:
        raise ValueError(
            f"{type(likelihood).__name__} has trained numbers and no closed-form update of them: train them by "
            "gradients, `noise=optax.adam(1e-3)`"
        )
    return None


def update_noise(
    noise: Any, likelihood: Likelihood, state: Any, outputs: Array, y: Array, *, dataset_size: int, kl_weight: Array
) -> tuple[Likelihood, Any]:
    """The likelihood after a step, and the state."""
    if not hasattr(noise, "update"):
        moved = likelihood.updated(outputs, y, dataset_size=dataset_size, kl_weight=kl_weight, rate=noise)
        return moved, state
    parameters, rest = _parameters(likelihood)
    if not jax.tree.leaves(parameters):
        return likelihood, state

    def loss(parameters: Any) -> Array:
        own: Likelihood = eqx.combine(parameters, rest)
        fit = -jnp.mean(own.expected_log_prob(jax.lax.stop_gradient(outputs), y))
        return fit + kl_weight.astype(fit.dtype) * own.kl() / dataset_size

    gradient = jax.grad(loss)(parameters)
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        updates, state = noise.update(gradient, state, parameters)
        parameters = optax.apply_updates(parameters, updates)
    return eqx.combine(parameters, rest), state
