"""Quantiles of S draws: the sorted draws interpolated at position p (S + 1), held within 1 and S.

A new draw then falls below the p-quantile with probability p on average, whatever its continuous distribution. (The
interpolation at 1 + p (S - 1) that numpy does unasked covers too little: 93.1 % of a 95 % interval at S = 100.)
"""

import numpy as np


def predictive_quantiles(draws: np.ndarray, levels: tuple[float, ...]) -> np.ndarray:
    """[levels, ...] from draws [S, ...]."""
    return np.quantile(draws, levels, axis=0, method="weibull")


def check_levels(levels: tuple[float, ...]) -> None:
    """Refuse levels that are no probabilities."""
    if not levels or not all(0 < level < 1 for level in levels):
        raise ValueError(f"levels of quantiles and intervals must be numbers between 0 and 1, got {list(levels)}")
