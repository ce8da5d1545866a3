"""Many trials of one method as one program, and the moments of the functions that it gives."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, PRNGKey
from plait.fit import fit
from plait.likelihood import GammaGaussian
from plait.model import BayesianModel, bayesianize
from plait.posterior import Family
from plait.prior import Normal
from plait.recipes.nng.methods import Method, Training


def build(inputs: int, hidden: int, family: Family, key: PRNGKey) -> BayesianModel:
    """The network of all methods, before training."""
    first, second, posterior_key = jax.random.split(key, 3)
    weights = {
        "hidden.kernel": jax.random.normal(first, (inputs, hidden)) * inputs**-0.5,
        "hidden.bias": jnp.zeros(hidden),
        "output.kernel": jax.random.normal(second, (hidden, 1)) * hidden**-0.5,
        "output.bias": jnp.zeros(1),
    }
    bnn = bayesianize(
        weights, jnp.zeros((2, inputs)), apply=_apply, posterior=family, prior=Normal(1.0), key=posterior_key
    )
    return bnn.with_likelihood(GammaGaussian())


def _apply(weights: dict[str, Array], x: Array) -> Array:
    hidden = jax.nn.relu(x @ weights["hidden.kernel"] + weights["hidden.bias"][None])
    return hidden @ weights["output.kernel"] + weights["output.bias"][None]


def train_trials(
    method: Method, training: Training, hidden: int, x: np.ndarray, y: np.ndarray, *, key: PRNGKey
) -> BayesianModel:
    """The trained models of all trials, stacked; data are [trials, n, ...]."""
    trials, examples, inputs = x.shape
    family = method.family(examples**-0.5)
    size = min(training.batch_size, examples)
    steps = training.epochs * (examples // size)
    found = fit(
        lambda key: build(inputs, hidden, family, key),
        (jnp.asarray(x), jnp.asarray(y)),
        optimizer=method.optimizer(training, steps),
        epochs=training.epochs,
        batch_size=size,
        num_samples=training.num_samples if method.by_gradients else 1,
        replicas=trials,
        data_per_replica=True,
        key=key,
        progress=False,
    )
    if found.failed:
        raise ValueError(f"{method.name}: training ran into losses that are not finite, in the trials {found.failed}")
    return found.model


@eqx.filter_jit
def function_moments(models: BayesianModel, x: Array, keys: Array, num_samples: int) -> tuple[Array, Array]:
    """Mean and variance of f(x) over draws of the weights, [trials, n] each, of stacked models and inputs."""
    arrays, static = eqx.partition(models, eqx.is_array)

    def one(arrays: Any, x: Array, key: Array) -> tuple[Array, Array]:
        bnn = eqx.combine(arrays, static)

        def add(carry: tuple[Array, Array], index: Array) -> tuple[tuple[Array, Array], None]:
            mean, spread = carry
            outputs = bnn.skeleton(bnn.draw_weights(jax.random.fold_in(key, index)), x)[:, 0]
            gap = outputs - mean
            mean = mean + gap / (index + 1).astype(gap.dtype)
            return (mean, spread + gap * (outputs - mean)), None

        zero = jnp.zeros(x.shape[0], x.dtype)
        (mean, spread), _ = jax.lax.scan(add, (zero, zero), jnp.arange(num_samples))
        return mean, spread / num_samples

    return jax.vmap(one)(arrays, x, keys)
