"""What a method says of a function, given a few points of it: the one place where methods differ.

A method that is not trained by `plait.fit`, such as the Markov chains here, has a line of its own.
"""

import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import PRNGKey
from plait.recipes.nng.methods import HMC, Training, find_method
from plait.recipes.nng.nuts_trials import Functions, nuts_functions
from plait.recipes.nng.training import function_moments, train_trials
from plait.recipes.nuts import Sampling


def find_functions(
    method: str,
    training: Training,
    sampling: Sampling,
    hidden: int,
    data: tuple[np.ndarray, np.ndarray],
    inputs: np.ndarray,
    *,
    key: PRNGKey,
    num_samples: int,
    thinned: bool = False,
) -> Functions:
    """Moments of f at [trials, m, ...] by one method, trained on data [trials, n, ...].

    Of chains they are those of all draws, or where they are to be `thinned` of about `num_samples`.
    """
    (x, y), (train_key, predict_key) = data, jax.random.split(key)
    if method == HMC:
        count = num_samples if thinned else None
        return nuts_functions(sampling, hidden, x, y, inputs, key=train_key, num_samples=count)
    models = train_trials(find_method(method), training, hidden, x, y, key=train_key)
    keys = jax.random.split(predict_key, len(x))
    mean, variance = function_moments(models, jnp.asarray(inputs), keys, num_samples)
    return Functions(np.asarray(mean), np.asarray(variance), [])
