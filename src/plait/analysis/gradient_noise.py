"""How much a gradient depends on the noise it was drawn with, which is what an estimator can lower.

For gradients g_1 ... g_S of one loss under S keys, and each group of numbers (means, spreads) of each weight:

    variance = sum_i Var[g_i],     signal = sum_i E[g_i]^2,  estimated by  sum_i (mean g_i)^2 - Var[g_i] / S

Both are unbiased, so a signal may come out below zero where S is too small to see it. Of one posterior the signal is
the same under every estimator that is exact, and the variances are comparable.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import numpy as np

from plait._random import check_key
from plait._table import Table
from plait._typing import PRNGKey
from plait.analysis.gradient_signal import Moments
from plait.analysis.signal_table import weight_and_group
from plait.model import BayesianModel, trainable


@dataclass(frozen=True)
class GradientNoise:
    """Of one group of numbers of one weight."""

    weight: str
    group: str
    size: int
    variance: float
    signal: float

    @property
    def ratio(self) -> float:
        """Variance over signal: the draws to average before noise and signal are equal."""
        return self.variance / self.signal if self.signal > 0 else float("inf")


def gradient_noise(
    loss: Callable[[BayesianModel, PRNGKey], Any], bnn: BayesianModel, *, key: PRNGKey, draws: int = 64
) -> tuple[GradientNoise, ...]:
    """Variance and signal of the gradient of `loss(bnn, key)`, by weight and group; memory does not grow with draws.

    Args:
        loss: a number of a model and a key, `plait.elbo` on one batch for instance.
        bnn: the model.
        key: split into one for each draw.
        draws: gradients to look at, at least 2.
    """
    check_key(key)
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 2:
        raise ValueError(f"`draws` is a number of gradients that has a variance, at least 2, got {draws!r}")
    numbers, rest = eqx.partition(bnn, trainable(bnn))

    @jax.jit
    def moments(numbers: Any) -> Moments:
        gradient = jax.grad(lambda numbers, key: loss(eqx.combine(numbers, rest), key))
        keys = jax.random.split(key, draws)
        return jax.lax.scan(lambda m, k: (m.update(gradient(numbers, k)), None), Moments.zero(numbers), keys)[0]

    found = moments(numbers)
    means = jax.tree_util.tree_flatten_with_path(found.mean)[0]
    rows = []
    for (where, mean), variance in zip(means, jax.tree.leaves(found.variance), strict=True):
        total = float(np.sum(np.asarray(variance, np.float64)))
        power = float(np.sum(np.square(np.asarray(mean, np.float64))))
        rows.append(GradientNoise(*weight_and_group(where), mean.size, total, power - total / draws))
    return tuple(rows)


def noise_table(rows: tuple[GradientNoise, ...]) -> Table:
    """A line for each group of each weight."""
    cells = [
        (row.weight, row.group, f"{row.size:,}", f"{row.variance:.3g}", f"{row.signal:.3g}", f"{row.ratio:.3g}")
        for row in rows
    ]
    return Table(("weight", "group", "numbers", "variance", "signal", "variance / signal"), cells, left=2)
