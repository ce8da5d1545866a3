"""Many trials of Markov chains as one program."""

import functools
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, PRNGKey
from plait.model import BayesianModel
from plait.posterior import MeanField
from plait.recipes.nng.training import build
from plait.recipes.nuts import Agreement, Chains, Sampling, function_draws, sample_posterior


class Functions(NamedTuple):
    """What the chains of all trials say, in standardised targets."""

    mean: np.ndarray
    """[trials, n]."""
    variance: np.ndarray
    agreement: list[Agreement]
    """Of the chains of each trial."""


def nuts_functions(
    sampling: Sampling,
    hidden: int,
    x: np.ndarray,
    y: np.ndarray,
    inputs: np.ndarray,
    *,
    key: PRNGKey,
    num_samples: int | None = None,
    judged: int = 100,
) -> Functions:
    """Sample given data [trials, n, ...] and evaluate at [trials, m, ...]; chains are judged by the last of these.

    The moments are of all draws, or of about `num_samples` evenly taken from the chains.
    """
    keys = jax.random.split(key, len(x))
    bnn = _network(x.shape[-1], hidden)
    chains = _sample(bnn, sampling, keys, jnp.asarray(x), jnp.asarray(y))
    every = 1 if num_samples is None else max(1, sampling.chains * sampling.draws // num_samples)
    mean, variance, tail = _evaluate(bnn, chains, jnp.asarray(inputs), every, min(judged, inputs.shape[1]))
    agreement = [Agreement.of(tail[trial], chains.divergent[trial]) for trial in range(len(x))]
    return Functions(np.asarray(mean), np.asarray(variance), agreement)


@functools.cache
def _network(inputs: int, hidden: int) -> BayesianModel:
    """It says network, prior and likelihood; its weights play no part."""
    return build(inputs, hidden, MeanField(), jax.random.key(0))


@eqx.filter_jit
def _sample(bnn: BayesianModel, sampling: Sampling, keys: Array, x: Array, y: Array) -> Chains:
    def one(key: Array, x: Array, y: Array) -> Chains:
        return sample_posterior(bnn, (x, y), key=key, sampling=sampling)

    return jax.vmap(one)(keys, x, y)


@eqx.filter_jit
def _evaluate(bnn: BayesianModel, chains: Chains, x: Array, every: int, judged: int) -> tuple[Array, Array, Array]:
    """Means and variances over draws; and the functions of all draws at the last inputs."""

    def one(chains: Chains, x: Array) -> tuple[Array, Array, Array]:
        thinned = jax.tree.map(lambda values: values[:, ::every], chains)

        def at(point: Array) -> tuple[Array, Array]:
            outputs = function_draws(bnn, thinned, point[None])
            return jnp.mean(outputs), jnp.var(outputs)

        # A pool of thousands, thousands of draws: not all at once.
        mean, variance = jax.lax.map(at, x, batch_size=32)
        return mean, variance, function_draws(bnn, chains, x[-judged:])[..., 0]

    return jax.vmap(one)(chains, x)
