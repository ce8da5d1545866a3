"""How good a model is on some data, and how well it tells foreign inputs from it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from plait._typing import PRNGKey
from plait.data import Pair
from plait.metrics import Estimate
from plait.model import BayesianModel
from plait.predict import Evaluation, OutOfDistribution, Predictive, evaluate, out_of_distribution, predict
from plait.recipes.facts import Facts

SCORES = {"classes": ("entropy", "mutual_information"), "numbers": ("variance", "epistemic")}


@dataclass(frozen=True, eq=False)
class Scored:
    """Predictions for data with targets."""

    name: str
    pair: Pair
    evaluation: Evaluation
    predictive: Predictive


@dataclass(frozen=True, eq=False)
class Foreign:
    """Predictions for inputs from elsewhere."""

    name: str
    predictive: Predictive
    detection: dict[str, OutOfDistribution]
    """By the uncertainty that is looked at."""


def score(
    bnn: BayesianModel,
    name: str,
    pair: Pair,
    facts: Facts,
    *,
    key: PRNGKey,
    num_samples: int,
    batch_size: int = 1024,
    by_sample: bool = False,
    progress: bool | None = None,
) -> Scored:
    """Evaluate a model, and keep its predictions."""
    how: dict[str, Any] = {"key": key, "num_samples": num_samples, "batch_size": batch_size, "progress": progress}
    how["standardizer"] = facts.target_scale
    evaluation = evaluate(bnn, pair, dataset_size=facts.num_train, by_sample=by_sample, **how)
    return Scored(name, pair, evaluation, predict(bnn, pair.x, y=pair.y, **how))


def detect(
    bnn: BayesianModel,
    name: str,
    x: np.ndarray,
    scored: Scored,
    facts: Facts,
    *,
    key: PRNGKey,
    num_samples: int,
    batch_size: int = 1024,
    progress: bool | None = None,
) -> Foreign:
    """Tell foreign inputs from those that were scored."""
    found = predict(
        bnn,
        x,
        key=key,
        num_samples=num_samples,
        batch_size=batch_size,
        standardizer=facts.target_scale,
        progress=progress,
    )
    scores = SCORES["numbers" if facts.task == "regression" else "classes"]
    detection = {what: out_of_distribution(scored.predictive, found, what) for what in scores}
    return Foreign(name, found, detection)


def metrics_of(scored: Scored, foreign: Foreign | None = None) -> dict[str, Any]:
    """Plain values, for JSON."""
    found: dict[str, Any] = {"data": scored.name} | scored.evaluation.to_dict()
    if foreign is not None:
        detection = {
            what: {"auroc": _plain(result.auroc), "fpr95": _plain(result.fpr95)}
            for what, result in foreign.detection.items()
        }
        found["out_of_distribution"] = {"data": foreign.name, "num_examples": len(foreign.predictive)} | detection
    return found


def _plain(estimate: Estimate) -> dict[str, float | None]:
    values = {"value": estimate.value, "standard_error": estimate.standard_error}
    return {name: value if np.isfinite(value) else None for name, value in values.items()}
