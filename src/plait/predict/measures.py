"""The metrics that fit a task, each with its standard error over examples."""

from collections.abc import Iterable

import numpy as np

from plait import metrics
from plait.metrics import Estimate, ReliabilityCurve
from plait.predict.evaluation import coverage_name
from plait.predict.predictive import Predictive


def measures(pred: Predictive, *, num_bins: int, levels: Iterable[float], num_resamples: int) -> dict[str, Estimate]:
    """By name: `nll` and `gibbs_nll`; of classes `accuracy`, `brier`, `ece`; else `rmse` and `coverage_90` and so on.

    An example with several targets counts once: its own metrics are averaged over them.
    """
    found = {
        "nll": Estimate.of_mean(-pred.log_prob()),
        "gibbs_nll": Estimate.of_mean(-pred.expected_log_prob()),
    }
    if pred.moments.log_probs is not None:
        probs, labels = _flat(pred)
        found["accuracy"] = _per_example(metrics.accuracy_terms(probs, labels), pred)
        found["brier"] = _per_example(metrics.brier_terms(probs, labels), pred)
        found["ece"] = metrics.expected_calibration_error_estimate(
            probs, labels, num_bins, seed=0, num_resamples=num_resamples
        )
        return found
    found["rmse"] = metrics.rmse_estimate(pred.mean, _original(pred))
    if pred.moments.below is not None:
        inside = pred.pit
        for level in levels:
            found[coverage_name(level)] = _per_example(np.abs(inside - 0.5) <= level / 2, pred)
    return found


def reliability(pred: Predictive, num_bins: int) -> ReliabilityCurve | None:
    """Accuracy against confidence, of classes."""
    return None if pred.moments.log_probs is None else metrics.reliability_curve(*_flat(pred), num_bins)


def _flat(pred: Predictive) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities [labels, classes] and labels, of all examples."""
    log_probs = pred.log_probs.astype(np.float64)
    assert pred.y is not None
    return np.exp(log_probs).reshape(-1, log_probs.shape[-1]), pred.y.reshape(-1)


def _per_example(terms: np.ndarray, pred: Predictive) -> Estimate:
    return Estimate.of_mean(terms.reshape(len(pred), -1).mean(axis=1))


def _original(pred: Predictive) -> np.ndarray:
    assert pred.y is not None
    return pred.y if pred.standardizer is None else pred.standardizer.original_mean(pred.y)
