"""Telling foreign inputs from familiar ones by an uncertainty score u, large where the input looks foreign.

AUROC = P(u_out > u_in) + 1/2 P(u_out = u_in)

FPR95 = the smallest fraction of foreign inputs taken for familiar (u_out <= t) at a threshold t that keeps at
        least 95 % of the familiar ones (u_in <= t), as in ODIN and OpenOOD
"""

import math

import numpy as np

from plait._typing import ArrayLike
from plait.metrics.estimate import Estimate, host


def auroc(scores_in: ArrayLike, scores_out: ArrayLike) -> float:
    """The probability that a foreign input scores above a familiar one, ties counted half."""
    return float(_placements(scores_in, scores_out)[1].mean())


def auroc_estimate(scores_in: ArrayLike, scores_out: ArrayLike) -> Estimate:
    """The AUROC with DeLong's standard error: se^2 = Var(V_in) / n_in + Var(V_out) / n_out, V the placements."""
    inside, outside = _placements(scores_in, scores_out)
    first, second = Estimate.of_mean(inside), Estimate.of_mean(outside)
    return Estimate(second.value, math.hypot(first.standard_error, second.standard_error))


def fpr_at_95_tpr(scores_in: ArrayLike, scores_out: ArrayLike) -> float:
    """The fraction of foreign inputs taken for familiar where 95 % of the familiar ones are recognised."""
    inside, outside = _scores(scores_in, scores_out)
    # Exact integer arithmetic: 0.95 n must not round up past n's 95th percentile.
    kept = -(-95 * len(inside) // 100)
    threshold = np.sort(inside)[kept - 1]
    return float((outside <= threshold).mean())


def _placements(scores_in: ArrayLike, scores_out: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    inside, outside = _scores(scores_in, scores_out)
    return 1 - _below(outside, inside), _below(inside, outside)


def _below(reference: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The fraction of the reference below each value, ties counted half."""
    ordered = np.sort(reference)
    low = np.searchsorted(ordered, values, side="left")
    high = np.searchsorted(ordered, values, side="right")
    return (low + high) / (2 * len(ordered))


def _scores(scores_in: ArrayLike, scores_out: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    inside, outside = host(scores_in), host(scores_out)
    if inside.ndim != 1 or outside.ndim != 1 or inside.size == 0 or outside.size == 0:
        raise ValueError(f"needs one score for each input, [N] and [M], got shapes {inside.shape} and {outside.shape}")
    if np.isnan(inside).any() or np.isnan(outside).any():
        raise ValueError("scores must not be nan")
    return inside, outside
