"""The standard error that comes from having only so many weight samples, for any function of the predictions:

    se^2 = (G - 1) / G sum_g (t_g - mean t)^2        t_g: the value without the g-th group of samples

the grouped jackknife. It needs the moments of G groups instead of every sample's predictions.
"""

import functools
import math
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait.predict.moments import Moments

GROUPS = 10


def merge_all(groups: Sequence[Moments]) -> Moments:
    """The moments of all groups together, on the host."""
    return jax.tree.map(np.asarray, functools.reduce(_merge, jax.tree.map(jnp.asarray, list(groups))))


@eqx.filter_jit
def _merge(first: Moments, second: Moments) -> Moments:
    return first.merge(second)


def leave_one_out(groups: Sequence[Moments]) -> list[Moments]:
    """The moments of all groups but one, for each."""
    return [merge_all([*groups[:g], *groups[g + 1 :]]) for g in range(len(groups))]


def jackknife_error(values: Sequence[float]) -> float:
    """From the values without each group."""
    # Differences, so that equal values have exactly no spread.
    differences = np.asarray(values, np.float64) - values[0]
    return math.sqrt((len(values) - 1) * float(np.var(differences)))
