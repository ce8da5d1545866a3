"""Seconds of one prediction with mean weights, of several models side by side.

A comparison of a model before and after `plait.shrink`: both compiled, on the same inputs, in turns (see `timing`).
"""

from collections.abc import Mapping
from typing import Any

import equinox as eqx

from plait.bench.timing import fastest
from plait.model import BayesianModel


def latency(models: Mapping[str, BayesianModel], x: Any, *args: Any, rounds: int = 30) -> dict[str, float]:
    """The least seconds of each model's mean prediction on a batch."""

    def predict(bnn: BayesianModel) -> Any:
        # The mean is taken beforehand: it is what would be deployed.
        weights = bnn.draw_weights(None)
        run = eqx.filter_jit(lambda weights, *inputs: bnn.skeleton(weights, *inputs))
        return lambda: run(weights, x, *args)

    return fastest({name: predict(bnn) for name, bnn in models.items()}, rounds=rounds)
