"""How accurate networks are by the share of weights left: ARD under both posteriors, a plain mean field pruned by its
signal to noise, and a plain network pruned by magnitude, all trained for the same epochs.

Every model is pruned to the same shares, all layers together, and judged by its mean weights: as it is, and after the
same epochs of training on with these zeros.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait.data import Dataset
from plait.metrics import Estimate
from plait.model import BayesianModel
from plait.predict import evaluate
from plait.recipes.part import Part
from plait.recipes.sparse.methods import Method
from plait.recipes.sparse.protocol import Protocol
from plait.recipes.sparse.study import settings_of
from plait.recipes.sparse.training import fine_tune, train
from plait.report import Picture, Table, curve_grid
from plait.sparsity import Budget, sparsify

SHARES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
CONTENDERS: dict[str, tuple[Method, Any]] = {
    "MN, ARD": (Method("MN", "independent"), "signal_to_noise"),
    "MN, group ARD": (Method("MN", "groups"), "signal_to_noise"),
    "DIAG, ARD": (Method("DIAG", "independent"), "signal_to_noise"),
    "mean field by signal to noise": (Method("DIAG", "none"), "signal_to_noise"),
    "plain network by magnitude": (Method("plain", "none"), "magnitude"),
}
"""What is trained, and the score that says which weights go first."""


@dataclass(frozen=True)
class Point:
    """At one share of weights."""

    accuracy: Estimate
    """On the test data, of mean weights."""
    tuned: Estimate
    """After training on."""


Frontier = dict[str, dict[float, Point]]
"""By contender and share."""


def run_frontier(protocol: Protocol, dataset: Dataset, output: Path, *, seed: int) -> Frontier:
    """Do what is not done yet."""
    found: Frontier = {}
    for name, (method, score) in CONTENDERS.items():
        folder, settings = output / method.folder, settings_of(protocol, method, seed)
        bnn = train(protocol, dataset, method, Part(folder, settings), seed=seed).model
        found[name] = {}
        for share in SHARES:
            part = Part(folder / f"share-{share:g}", settings | {"fine_tune": protocol.fine_tune})
            rule = Budget(share, score=score)
            values = part.once(lambda bnn=bnn, rule=rule: _judge(protocol, dataset, bnn, rule, seed))
            found[name][share] = Point(Estimate(*values["accuracy"]), Estimate(*values["tuned"]))
        shown = ", ".join(f"{share:g}: {point.accuracy.value:.4f}" for share, point in found[name].items())
        print(f"frontier, {name}: {shown}", flush=True)
    return found


def _judge(protocol: Protocol, dataset: Dataset, bnn: BayesianModel, rule: Budget, seed: int) -> dict[str, Any]:
    sparse = sparsify(bnn, rule).model
    accuracy = tuned = _accuracy(dataset, sparse)
    if protocol.fine_tune:
        tuned = _accuracy(dataset, fine_tune(protocol, dataset, sparse, protocol.fine_tune, seed=seed).model)
    return {"accuracy": accuracy, "tuned": tuned}


def _accuracy(dataset: Dataset, bnn: BayesianModel) -> tuple[float, float]:
    found = evaluate(bnn, dataset.test, key=None).accuracy
    assert found is not None
    return found.value, found.standard_error


def frontier_table(found: Frontier, *, tuned: bool) -> Table:
    """A row for each share, a column for each contender."""
    rows = []
    for share in next(iter(found.values())):
        points = [by_share[share] for by_share in found.values()]
        rows.append((f"{100 * share:g} %", *(str(point.tuned if tuned else point.accuracy) for point in points)))
    return Table(("weights left", *found), rows)


def frontier_picture(found: Frontier) -> Picture:
    """Accuracy against the share of weights left."""
    curves = {
        name: (
            [*points],
            {
                "accuracy": [point.accuracy.value for point in points.values()],
                "accuracy after training on": [point.tuned.value for point in points.values()],
            },
        )
        for name, points in found.items()
    }
    quantities = {"accuracy": False, "accuracy after training on": False}
    figure = curve_grid({"Test data": curves}, quantities, across="share of weights left", log_across=True)
    return Picture(figure, "Accuracy against sparsity", "Test data, mean weights; all trained for the same epochs.")
