"""Telling foreign inputs from familiar ones by how uncertain the predictions are; see `plait.metrics`."""

from dataclasses import dataclass

import numpy as np

from plait import metrics
from plait.metrics import Estimate
from plait.predict.predictive import Predictive

SCORES = ("entropy", "mutual_information", "confidence", "variance", "epistemic")
NUM_RESAMPLES = 200


@dataclass(frozen=True)
class OutOfDistribution:
    """How well a score tells the two apart."""

    auroc: Estimate
    """The probability that a foreign input scores above a familiar one; its error is DeLong's."""
    fpr95: Estimate
    """The fraction of foreign inputs taken for familiar where 95 % of the familiar ones are recognised; its error is a
    bootstrap's."""

    def __str__(self) -> str:
        return f"AUROC {self.auroc}, FPR95 {self.fpr95}"


def out_of_distribution(pred_in: Predictive, pred_out: Predictive, score: str = "entropy") -> OutOfDistribution:
    """Detection of the inputs of `pred_out` among those of `pred_in`.

    `score` is "entropy", "mutual_information" or "confidence" of classes, "variance" or "epistemic" (variance) of
    anything. An example with several targets has the mean of their scores.
    """
    if score not in SCORES:
        raise ValueError(f"`score` must be one of {', '.join(map(repr, SCORES))}, got {score!r}")
    inside, outside = _scores(pred_in, score), _scores(pred_out, score)
    fpr95 = Estimate(metrics.fpr_at_95_tpr(inside, outside), _bootstrap_error(inside, outside))
    return OutOfDistribution(metrics.auroc_estimate(inside, outside), fpr95)


def _scores(pred: Predictive, score: str) -> np.ndarray:
    """Large where an input looks foreign."""
    values = getattr(pred, score).reshape(len(pred), -1).mean(axis=1)
    return -values if score == "confidence" else values


def _bootstrap_error(inside: np.ndarray, outside: np.ndarray) -> float:
    generator = np.random.default_rng(0)

    def resample(values: np.ndarray) -> np.ndarray:
        return values[generator.integers(0, len(values), len(values))]

    drawn = [metrics.fpr_at_95_tpr(resample(inside), resample(outside)) for _ in range(NUM_RESAMPLES)]
    return float(np.std(drawn, ddof=1))
