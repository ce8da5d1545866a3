"""The report of a run: one page with its numbers, its pictures, its weights and its options."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from plait.data import Dataset
from plait.fit import History
from plait.metrics import Estimate
from plait.model import BayesianModel
from plait.predict.evaluation import TITLES
from plait.recipes.facts import Facts
from plait.recipes.optimizers import posterior_name
from plait.recipes.options import Options
from plait.recipes.run_folder import RunFolder
from plait.recipes.scoring import Foreign, Scored
from plait.report import (
    Page,
    Picture,
    Section,
    Table,
    bands,
    image_grid,
    learning_curves,
    predicted_and_true,
    reliability_diagram,
    site_table,
    uncertainty_histograms,
)

UNCERTAINTIES = (
    (
        "entropy",
        "Uncertainty",
        "All of it: a good model is more uncertain where it is wrong. Each group has its own scale, bars are the root "
        "of its share; the line is the median.",
    ),
    (
        "mutual_information",
        "Uncertainty that more data would remove",
        "The part that comes from not knowing the weights: how much the weight samples disagree.",
    ),
)
SHOWN = 8
"""Pictures in a row."""


def write_report(
    folder: RunFolder,
    bnn: BayesianModel,
    history: History,
    scored: Scored,
    dataset: Dataset,
    foreign: Foreign | None = None,
) -> None:
    """Write report.html."""
    facts, classes = folder.facts, scored.evaluation.reliability is not None
    predictions = _of_classes(scored, facts, foreign) if classes else _of_numbers(scored, facts, dataset)
    sections = [
        Section("How good it is", _results(scored, foreign)),
        Section("Predictions", predictions),
        Section("Training", _training(history, facts)),
        Section("Weights", [_size(bnn), site_table(bnn)]),
        Section("Options", [_shown_options(folder.options, facts)]),
    ]
    lead = (
        f"{_count(scored.evaluation.num_examples, 'test example')} after {_count(facts.num_train, 'training example')}"
    )
    title = f"{facts.name} with a {_family(folder)}"
    Page(title, f"{lead}, {_count(scored.evaluation.num_samples, 'weight sample')}", sections).write(folder.report)


def metrics_table(metrics: Mapping[str, Estimate], over_samples: Mapping[str, float] | None = None) -> Table:
    """A row for each metric, with its standard error over examples and, where known, over weight samples."""
    more = over_samples or {}
    rows = [
        (
            TITLES.get(name) or name.replace("_", " ") + " %",
            *str(estimate).split(" ± "),
            *([f"{more[name]:.2g}" if name in more else ""] if more else []),
        )
        for name, estimate in metrics.items()
    ]
    return Table(("metric", "value", "standard error", *(["over samples"] if more else [])), rows)


def detection_table(foreign: Foreign) -> Table:
    """A row for each uncertainty that foreign inputs are told by."""
    rows = [(name.replace("_", " "), str(found.auroc), str(found.fpr95)) for name, found in foreign.detection.items()]
    return Table(("by", "AUROC", "FPR95"), rows)


def _results(scored: Scored, foreign: Foreign | None) -> list[Any]:
    items: list[Any] = [metrics_table(scored.evaluation.metrics)]
    if scored.evaluation.kl is not None:
        items.append(f"KL from the prior to the posterior: {scored.evaluation.kl:,.1f} nats.")
    if foreign is not None:
        items += [f"{len(foreign.predictive):,} foreign inputs ({foreign.name}) told apart:", detection_table(foreign)]
    return items


def _of_classes(scored: Scored, facts: Facts, foreign: Foreign | None) -> list[Any]:
    curve, pred = scored.evaluation.reliability, scored.predictive
    assert curve is not None
    right = (pred.labels.reshape(len(pred), -1) == scored.pair.y.reshape(len(pred), -1)).all(axis=1)
    items: list[Any] = [
        Picture(
            reliability_diagram({"": curve}),
            "Reliability",
            "How often the most probable class is right, by how probable it was said to be. On the dashed line "
            "confidence is deserved; whiskers are one standard error. Below, how many examples each bin holds.",
        )
    ]
    for name, title, caption in UNCERTAINTIES:
        values = getattr(pred, name).reshape(len(pred), -1).mean(axis=1)
        groups = {"right": values[right], "wrong": values[~right]}
        if foreign is not None:
            other = foreign.predictive
            groups["foreign"] = getattr(other, name).reshape(len(other), -1).mean(axis=1)
        items.append(Picture(uncertainty_histograms({"": groups}, f"{name.replace('_', ' ')} in nats"), title, caption))
    if facts.pictures and len(facts.input_shape) in (2, 3):
        items.append(_examples(scored, facts, right))
    return items


def _examples(scored: Scored, facts: Facts, right: np.ndarray) -> Picture:
    pred, (x, y) = scored.predictive, scored.pair
    uncertain = np.argsort(-pred.entropy.reshape(len(pred), -1).mean(axis=1), kind="stable")
    chosen = {"surest": uncertain[::-1][:SHOWN], "least sure": uncertain[:SHOWN]}
    wrong = [index for index in uncertain[::-1] if not right[index]][:SHOWN]
    if wrong:
        chosen["wrong, the surest first"] = np.asarray(wrong)
    labels, confidence, truth = pred.labels.reshape(-1), pred.confidence.reshape(-1), y.reshape(-1).astype(int)

    def said(index: int) -> str:
        text = f"{_short(facts, labels[index])} {confidence[index]:.0%}"
        return text if right[index] else f"{text}\nis {_short(facts, truth[index])}"

    rows = {name: (x[rows], [said(index) for index in rows]) for name, rows in chosen.items()}
    caption = (
        "Test pictures with the most probable class and its probability; below it the true class, where it differs."
    )
    return Picture(image_grid(rows, SHOWN), "Examples", caption)


def _short(facts: Facts, label: int) -> str:
    return facts.class_names[label][:10]


def _of_numbers(scored: Scored, facts: Facts, dataset: Dataset) -> list[Any]:
    pred, scaler = scored.predictive, facts.target_scale
    y = scored.pair.y if scaler is None else scaler.original_mean(scored.pair.y)
    mean, std, epistemic = (part.reshape(len(pred), -1) for part in (pred.mean, pred.std, np.sqrt(pred.epistemic)))
    pit = pred.pit.reshape(len(pred), -1) if pred.moments.below is not None else None
    targets, items = y.reshape(len(pred), -1), []
    for column in range(targets.shape[1]):
        which = f" of target {column}" if targets.shape[1] > 1 else ""
        shown = (mean[:, column], std[:, column], targets[:, column], None if pit is None else pit[:, column])
        items.append(
            Picture(
                predicted_and_true(*shown),
                f"Predicted and true{which}",
                "Left, predictions of test targets with their 90 % intervals. Right, the fraction of targets inside "
                "the central interval of each level: on the dashed line intervals hold what they promise, within the "
                "grey band but for chance.",
            )
        )
        if dataset.train.x[0].size == 1:
            scale = facts.standardizer
            train, test = (
                (x if scale is None else x * scale.x_scale + scale.x_mean).reshape(-1)
                for x in (dataset.train.x, scored.pair.x)
            )
            known = dataset.train.y if scaler is None else scaler.original_mean(dataset.train.y)
            points = (train, known.reshape(len(train), -1)[:, column])
            items.append(
                Picture(
                    bands(test, mean[:, column], std[:, column], epistemic[:, column], points),
                    f"Along the input{which}",
                    "The mean, the band that holds 90 % of targets, and within it the part that comes from not knowing "
                    "the weights.",
                )
            )
    return items


def _training(history: History, facts: Facts) -> list[Any]:
    if not len(history):
        return ["There is no complete epoch."]
    caption = "Epoch by epoch. Shaded: the KL weight is still rising, so that losses on both sides do not compare."
    if facts.target_scale is not None:
        caption += " Targets are those that were trained on, with variance 1."
    last = history.rows[-1]
    pace = f"{last['step']:,} steps in {last['epoch']:,} epochs, {last['steps_per_second']:,.0f} a second at the end."
    return [pace, Picture(learning_curves(history), "Losses", caption)]


def _size(bnn: BayesianModel) -> str:
    return f"{bnn.num_weights:,} weights, {bnn.num_params:,} trained numbers."


def _shown_options(options: Options, facts: Facts) -> dict[str, str]:
    groups = (options.data, options.model, options.training)
    values = {field.name: getattr(group, field.name) for group in groups for field in dataclasses.fields(group)}
    return {
        name.replace("_", " "): " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        for name, value in values.items()
        if value is not None and (name != "noise" or facts.task == "regression")
    }


def _family(folder: RunFolder) -> str:
    options = folder.options
    rank = "" if options.model.rank is None else f" of rank {options.model.rank}"
    network = "" if options.model.network is None else f" {options.model.network}"
    tied = f", tied to rank {' and '.join(map(str, sorted({*folder.ranks.values()})))}" if folder.ranks else ""
    return f"{posterior_name(options)}{rank} posterior{' over weights of the' + network if network else ''}{tied}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
