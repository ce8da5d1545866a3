"""Calibration of the most probable class: confidence c_n = max p_n against correctness a_n, in bins of equal width.

    ECE = sum_b (n_b / N) |mean_b a - mean_b c|

A bin holds the confidences in (low, high]. The ECE is not a mean over examples; its standard error is a bootstrap's.
"""

from dataclasses import dataclass

import numpy as np

from plait._typing import ArrayLike
from plait.metrics.classification import check_probabilities
from plait.metrics.estimate import Estimate


@dataclass(frozen=True)
class ReliabilityCurve:
    """What a reliability diagram shows, bin by bin; empty bins hold nan."""

    edges: np.ndarray
    """num_bins + 1 edges."""
    confidence: np.ndarray
    """Mean confidence."""
    accuracy: np.ndarray
    """Mean correctness."""
    count: np.ndarray
    """Examples."""

    @property
    def expected_calibration_error(self) -> float:
        """Mean gap, weighted by examples."""
        gaps = np.abs(np.nan_to_num(self.accuracy) - np.nan_to_num(self.confidence))
        return float((gaps * self.count).sum() / self.count.sum())


def reliability_curve(probs: ArrayLike, targets: ArrayLike, num_bins: int = 15) -> ReliabilityCurve:
    """Accuracy against confidence."""
    confidence, correct, bins = _binned(probs, targets, num_bins)
    count = np.bincount(bins, minlength=num_bins)
    divisor = np.where(count > 0, count, np.nan)
    return ReliabilityCurve(
        np.linspace(0, 1, num_bins + 1),
        np.bincount(bins, confidence, num_bins) / divisor,
        np.bincount(bins, correct, num_bins) / divisor,
        count,
    )


def expected_calibration_error(probs: ArrayLike, targets: ArrayLike, num_bins: int = 15) -> float:
    """The mean gap between confidence and accuracy."""
    return reliability_curve(probs, targets, num_bins).expected_calibration_error


def expected_calibration_error_estimate(
    probs: ArrayLike, targets: ArrayLike, num_bins: int = 15, *, seed: int, num_resamples: int = 200
) -> Estimate:
    """The ECE with a bootstrap standard error: the std of the ECE of examples drawn with replacement.

    A resample's ECE lies above the data's own (resampling adds gaps); its spread is what is used, not its level.
    """
    if num_resamples < 2:
        raise ValueError(f"a bootstrap needs at least two resamples, got num_resamples={num_resamples}")
    confidence, correct, bins = _binned(probs, targets, num_bins)
    gap, generator, size = correct - confidence, np.random.default_rng(seed), len(bins)
    resampled = []
    for _ in range(num_resamples):
        chosen = generator.integers(0, size, size)
        resampled.append(np.abs(np.bincount(bins[chosen], gap[chosen], num_bins)).sum() / size)
    value = np.abs(np.bincount(bins, gap, num_bins)).sum() / size
    return Estimate(float(value), float(np.std(resampled, ddof=1)))


def _binned(probs: ArrayLike, targets: ArrayLike, num_bins: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if num_bins < 1:
        raise ValueError(f"`num_bins` must be at least 1, got {num_bins}")
    columns, labels = check_probabilities(probs, targets)
    confidence, predicted = columns.max(axis=1), columns.argmax(axis=1)
    bins = np.searchsorted(np.linspace(0, 1, num_bins + 1)[1:-1], confidence, side="left")
    return confidence, (predicted == labels).astype(np.float64), bins
