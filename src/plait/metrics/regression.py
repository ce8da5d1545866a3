"""Metrics of real-valued predictions.

    RMSE = sqrt(mean (m - y)^2)        LL = mean_n log (1/S) sum_s p(y_n | w_s)

The log-likelihood of a Bayesian prediction is that of the mixture over weight samples, not of one Gaussian with the
same moments; both are here.
"""

import numpy as np

from plait._typing import ArrayLike
from plait.metrics.estimate import Estimate, host


def rmse(mean: ArrayLike, targets: ArrayLike) -> float:
    """The root of the mean squared error over examples and entries."""
    return float(np.sqrt(squared_error_terms(mean, targets).mean()))


def rmse_estimate(mean: ArrayLike, targets: ArrayLike) -> Estimate:
    """The RMSE with its standard error by the delta method."""
    return Estimate.of_root_mean(squared_error_terms(mean, targets))


def squared_error_terms(mean: ArrayLike, targets: ArrayLike) -> np.ndarray:
    """(m - y)^2 for each example, averaged over its entries."""
    predicted, observed = _paired(mean, targets, "means")
    return np.square(predicted - observed).reshape(len(observed), -1).mean(axis=1)


def gaussian_log_likelihood(mean: ArrayLike, std: ArrayLike, targets: ArrayLike) -> float:
    """The mean over examples of log N(y; m, s^2)."""
    return float(gaussian_log_likelihood_terms(mean, std, targets).mean())


def gaussian_log_likelihood_terms(mean: ArrayLike, std: ArrayLike, targets: ArrayLike) -> np.ndarray:
    """log N(y; m, s^2) for each example, summed over its entries; s is the whole predictive deviation."""
    predicted, observed = _paired(mean, targets, "means")
    deviation = np.broadcast_to(host(std), predicted.shape)
    if not (deviation > 0).all():
        raise ValueError(f"standard deviations must be positive, the smallest is {deviation.min()}")
    terms = -0.5 * np.square((observed - predicted) / deviation) - np.log(deviation) - 0.5 * np.log(2 * np.pi)
    return terms.reshape(len(observed), -1).sum(axis=1)


def log_mean_exp(log_probs: ArrayLike, axis: int = 0) -> np.ndarray:
    """log (1/S) sum_s exp(l_s) without overflow: the log-likelihood of a mixture over S samples."""
    values = host(log_probs)
    if values.shape[axis] == 0:
        raise ValueError("a mixture needs at least one sample, got none")
    top = values.max(axis=axis, keepdims=True)
    # All of them -inf: the difference would be nan.
    safe = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.squeeze(safe, axis) + np.log(np.mean(np.exp(values - safe), axis=axis)))


def coverage(lower: ArrayLike, upper: ArrayLike, targets: ArrayLike) -> Estimate:
    """The fraction of targets inside their predicted interval."""
    low, observed = _paired(lower, targets, "lower ends")
    high, _ = _paired(upper, targets, "upper ends")
    return Estimate.of_mean((low <= observed) & (observed <= high))


def quantile_coverage(quantiles: ArrayLike, targets: ArrayLike) -> np.ndarray:
    """The fraction of targets at or below each predicted quantile [Q, N, ...]: for a calibrated model, its level."""
    values, observed = host(quantiles), host(targets)
    if values.ndim == 0 or values.shape[1:] != observed.shape or observed.size == 0:
        raise ValueError(f"needs quantiles [Q, N, ...] and targets [N, ...], got {values.shape} and {observed.shape}")
    return (observed[None] <= values).reshape(len(values), -1).mean(axis=1)


def _paired(values: ArrayLike, targets: ArrayLike, what: str) -> tuple[np.ndarray, np.ndarray]:
    # (N, 1) against (N,) would broadcast to (N, N) and average to a plausible number.
    predicted, observed = host(values), host(targets)
    if predicted.shape != observed.shape or observed.ndim == 0 or observed.size == 0:
        raise ValueError(
            f"{what} and targets must have one and the same shape [N, ...], got {predicted.shape} and {observed.shape}"
        )
    return predicted, observed
