"""What a study of sparse learning found, beside what the paper reports: a table for a terminal, a page with figures.

<output>/NAME.md and the figures that it shows, in <output>/NAME/, may be copied to docs/results as they are.
"""

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plait.checkpoint.atomic import write_whole
from plait.metrics import Estimate
from plait.recipes.sparse.measuring import Pruned, dropped
from plait.recipes.sparse.methods import Method
from plait.recipes.sparse.protocol import Protocol
from plait.recipes.sparse.study import Chapter, Results
from plait.report import Picture, Table, curve_grid

QUANTITIES = {"validation accuracy": False, "−ELBO per example": True, "weights / weights left": True}
UNITS = {"free": "weights", "rows": "rows", "columns": "columns"}
"""What each rule takes out."""


def comparison_table(results: Sequence[Results]) -> Table:
    """A row for each method: how good, and how much is left, the paper's beside ours where it says so."""
    rows = []
    for one in results:
        for method, found in one.measured.items():
            free = found.pruned["free"]
            paper = one.chapter.targets.by_posterior.get(method.posterior) if method.sparsity == "groups" else None
            rows.append(
                (
                    one.chapter.protocol.name,
                    method.posterior,
                    method.sparsity,
                    str(found.whole.negative_elbo),
                    str(found.whole.accuracy),
                    str(free.quality.accuracy),
                    "" if free.tuned is None else str(free.tuned.accuracy),
                    f"{free.left:,}",
                    "" if paper is None else f"{paper.left:,}",
                    f"{free.weights:,}",
                )
            )
    columns = ("network", "posterior", "sparsity", "-ELBO", "accuracy", "zeroed", "tuned", "left", "left, paper", "of")
    return Table(columns, rows, left=3)


def write_page(
    output: Path, name: str, title: str, whole: Sequence[Chapter], results: list[Results], command: str
) -> Path:
    """Write the page and its figures; `whole` is the study with nothing left out."""
    figures = output / name
    figures.mkdir(parents=True, exist_ok=True)
    protocols = {chapter.protocol.name: chapter.protocol for chapter in whole}
    missing = [p.title for p in protocols.values() if p.name not in {r.chapter.protocol.name for r in results}]
    lead = f"Made by `{command}`." + (f" Not run here: {'; '.join(missing)}." if missing else "")
    sections = [lead, _how()]
    for one in results:
        file = f"{one.chapter.protocol.name}.png"
        picture = _picture(one)
        picture.save(figures / file)
        shown = f"![{picture.title}]({name}/{file})\n\n*{picture.caption}*"
        sections.append(_chapter(one, protocols[one.chapter.protocol.name], shown))
    page = output / f"{name}.md"
    write_whole(page, ("\n\n".join([f"# {title}", *sections]) + "\n").encode())
    return page


def _how() -> str:
    return (
        "Paper 002 gives networks, data and augmentation; optimizer, learning rate, epochs, batch size and the rule "
        "for zeros are ours. *-ELBO* is per test example with the KL at weight 1; *accuracy* is that of mean weights "
        "on test data; *sampled* that of the average over weight samples; *zeroed* after every weight with "
        "log(Var / M²) at or above the threshold is zero, *tuned* after training on with these zeros. Biases are "
        "constants and are not counted. ± is the standard error over test examples."
    )


def _chapter(one: Results, whole: Protocol, picture: str) -> str:
    protocol, targets = one.chapter.protocol, one.chapter.targets
    parts = [f"## {protocol.title}", setting(protocol), _cut(protocol, whole)]
    if targets.said:
        parts.append("The paper: " + " ".join(targets.said))
    parts += [
        picture,
        "### How good, and how much is left",
        quality_table(one).markdown(),
        _differences(one),
        "### Layer by layer (the format of tables 1 and 2)",
        "*A* is what there was, *W* what is left, *%* what was dropped, layer by layer from the input.",
        _layer_table(one).markdown(),
        "### Really smaller",
        "`plait.shrink` on each of the models above: what vanishes is whole rows and columns. Times are of mean "
        "weights on a batch of test inputs, the least of many rounds.",
        _size_table(one).markdown(),
    ]
    return "\n\n".join(part for part in parts if part)


def setting(protocol: Protocol) -> str:
    """How it was trained."""
    stop = "" if protocol.steps is None else f", ended after {protocol.steps:,} steps"
    flips = ", pictures turned left to right at random" if protocol.flips else ""
    return (
        f"{protocol.epochs} epochs{stop} of Adam from {protocol.learning_rate:g} along a cosine, batches of "
        f"{protocol.batch_size}{flips}; the KL weight grows exponentially from {protocol.start:g} to 1 in the first "
        f"{100 * protocol.annealing:g} % of training; initial std {protocol.init_scale:g}; zero at log alpha >= "
        f"{protocol.threshold:g}; {protocol.num_samples} weight samples; {protocol.fine_tune} epochs of training on."
    )


def _cut(protocol: Protocol, whole: Protocol) -> str:
    changed = [
        f"{field.name.replace('_', ' ')} {_value(getattr(protocol, field.name))} instead of "
        f"{_value(getattr(whole, field.name))}"
        for field in dataclasses.fields(Protocol)
        if field.name not in ("title", "network") and getattr(protocol, field.name) != getattr(whole, field.name)
    ]
    return f"**Cut short**: {'; '.join(changed)}." if changed else ""


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def quality_table(one: Results) -> Table:
    """A row for each method: how good it is, and how much is left."""
    rows = []
    for method, found in one.measured.items():
        free, trained = found.pruned["free"], one.trained[method]
        rows.append(
            (
                method.posterior,
                method.sparsity,
                *map(str, (found.whole.negative_elbo, found.whole.accuracy, found.whole.sampled_accuracy)),
                f"{found.kl:,.0f}",
                str(free.quality.accuracy),
                "" if free.tuned is None else str(free.tuned.accuracy),
                f"{free.left:,}",
                f"{free.weights / max(free.left, 1):.1f}",
                f"{1e3 * trained.seconds_per_step:.1f}",
                f"{found.num_params:,}",
            )
        )
    columns = ("posterior", "sparsity", "-ELBO", "accuracy", "sampled", "KL", "zeroed", "tuned", "weights left")
    return Table((*columns, "compression", "ms / step", "numbers trained"), rows, left=2)


def _differences(one: Results) -> str:
    """Matrix normal against diagonal, with the standard error of unpaired examples: too large, so on the safe side."""
    lines = []
    for sparsity in one.chapter.protocol.sparsities:
        pair = [one.measured.get(Method(posterior, sparsity)) for posterior in ("MN", "DIAG")]
        if pair[0] is None or pair[1] is None:
            continue
        elbo = _gap(pair[0].whole.negative_elbo, pair[1].whole.negative_elbo)
        free = [found.pruned["free"] for found in pair if found is not None]
        zeroed = _gap(free[0].quality.accuracy, free[1].quality.accuracy, 100)
        lines.append(f"- {sparsity}: -ELBO {elbo} nats, accuracy after zeroing {zeroed} points")
    return "" if not lines else "MN less DIAG:\n\n" + "\n".join(lines)


def _gap(first: Estimate, second: Estimate, factor: float = 1.0) -> str:
    error = factor * math.hypot(first.standard_error, second.standard_error)
    return f"{factor * (first.value - second.value):+.3g} ± {error:.2g}"


def _layer_table(one: Results) -> Table:
    rows = []
    for method, found in one.measured.items():
        for rule, pruned in found.pruned.items():
            paper = None
            if method.sparsity == "groups" and rule == "free":
                paper = one.chapter.targets.by_posterior.get(method.posterior)
            if method.posterior == "MN" and method.sparsity == "groups":
                paper = one.chapter.targets.by_rule.get(rule, paper)
            unit = UNITS[rule]
            before, left = ([getattr(layer, f"{unit}{end}") for layer in pruned.layers] for end in ("", "_left"))
            rows.append(
                (
                    method.posterior,
                    method.sparsity,
                    unit,
                    "-".join(map(_thousands, before)),
                    "-".join(map(_thousands, left)),
                    "-".join(map(str, dropped(pruned.layers, unit))),
                    f"{sum(left):,} of {sum(before):,}",
                    "" if paper is None else f"{paper.left:,} of {paper.whole:,}",
                    "" if paper is None else "-".join(map(str, paper.dropped)),
                )
            )
    columns = ("posterior", "sparsity", "of", "A", "W", "%", "left", "left, paper", "%, paper")
    return Table(columns, rows, left=6)


def _size_table(one: Results) -> Table:
    rows = []
    for method, found in one.measured.items():
        for rule, pruned in found.pruned.items():
            rows.append((method.posterior, method.sparsity, rule, *_sizes(pruned)))
    columns = ("posterior", "sparsity", "rule", "accuracy", "-ELBO", "bytes before", "after", "ms before", "after")
    return Table(columns, rows, left=3)


def _sizes(pruned: Pruned) -> tuple[str, ...]:
    quality = pruned.quality
    bytes_shown = (f"{count:,}" for count in pruned.bytes)
    times = (f"{1e3 * seconds:.3g}" for seconds in pruned.seconds)
    return (str(quality.accuracy), str(quality.negative_elbo), *bytes_shown, *times)


def _picture(one: Results) -> Picture:
    protocol = one.chapter.protocol
    rows = {}
    for sparsity in protocol.sparsities:
        curves = {}
        for method, trained in one.trained.items():
            if method.sparsity != sparsity:
                continue
            history = trained.history
            seen = np.isfinite(history["left"])
            values = {
                "validation accuracy": history["validation_accuracy"][seen],
                "−ELBO per example": history["validation_negative_elbo"][seen],
                "weights / weights left": 1 / np.maximum(history["left"][seen], 1e-6),
            }
            curves[method.posterior] = (history["epoch"][seen], values)
        rows[sparsity] = curves
    caption = (
        "Validation data, by epoch, one row for each kind of sparsity: accuracy, -ELBO with the KL at weight 1, and "
        "how many times fewer weights a rule of log alpha would leave."
    )
    return Picture(curve_grid(rows, QUANTITIES), protocol.title, caption)


def _thousands(count: int) -> str:
    return str(count) if count < 1000 else f"{count / 1000:.3g}k"
