"""What a study found beside what the papers report: a table for a terminal, and a page of markdown with figures.

<output>/NAME.md and the figures that it shows, in <output>/NAME/, may be copied to docs/results as they are.
"""

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from plait.analysis import approximate_stds, spectra
from plait.checkpoint.atomic import write_whole
from plait.metrics import Estimate
from plait.recipes.ktied.measuring import Measured
from plait.recipes.ktied.protocol import Protocol, Rank, Start, method_name
from plait.recipes.ktied.study import Results
from plait.recipes.ktied.targets import METRICS, Row, Targets
from plait.report import Picture, Table, spectra_plot, std_heat_maps, training_lines

SHOWN = 3
"""Weights with heat maps, the largest first."""
TITLES = {"negative_elbo": "-ELBO", "nll": "NLL", "accuracy": "accuracy"}


def comparison_table(protocol: Protocol, targets: Targets, results: Results) -> Table:
    """A row for each number, the paper's beside ours, and by how many standard errors of both they differ."""
    rows: list[tuple[str, ...]] = []
    parts = (("trained", results.trained, targets.trained), ("truncated", results.truncated, targets.truncated))
    for what, ours, theirs in parts:
        for rank, found in ours.items():
            for name in METRICS:
                paper = theirs.get(rank, {}).get(name)
                rows.append((what, method_name(rank), TITLES[name], *_beside(paper, found.metrics[name])))
    for start, plain in results.plain.items():
        for rank, found in plain.items():
            for step in protocol.signal_steps:
                paper = _number(targets.converging.get(rank, {}).get(step))
                what = f"no annealing, {_start(start)}"
                rows.append((what, method_name(rank), f"-ELBO at {step:,}", paper, _mean(found.at(step)), ""))
    return Table(("part", "rank", "number", "paper", "ours", "errors apart"), rows, left=3)


def write_page(
    output: Path, name: str, protocol: Protocol, whole: Protocol, targets: Targets, results: Results, command: str
) -> Path:
    """Write the page and its figures; `whole` is the protocol with nothing left out."""
    figures = output / name
    figures.mkdir(exist_ok=True)
    pictures = _pictures(protocol, results)
    for file, picture in pictures.items():
        picture.save(figures / file)
    shown = {file: f"![{picture.title}]({name}/{file})\n\n*{picture.caption}*" for file, picture in pictures.items()}
    sections = [
        f"Made by `{command}`.\n\n{_cut(protocol, whole)}",
        "## Ties in training\n\n"
        f"{_setting(protocol)}\n\n{_judged_table(results.trained, targets.trained, results).markdown()}",
        "## Rank of a trained mean field, truncated\n\n"
        f"Standard deviations replaced by their singular value decomposition of a rank, at least {_floor(protocol):g}."
        f"\n\n{_judged_table(results.truncated, targets.truncated).markdown()}\n\n"
        f"KL / N by that floor (erratum E16):\n\n{_floors_table(results).markdown()}",
        f"## Spectra\n\n{spectra(results.full).table().markdown()}\n\n{shown['spectra.png']}\n\n{shown['stds.png']}",
    ]
    if results.plain:
        sections.append(_convergence(protocol, targets, results, shown["convergence.png"]))
    if any(found.signal for plain in results.plain.values() for found in plain.values()):
        sections.append(_signal(protocol, targets, results))
    page = output / f"{name}.md"
    write_whole(page, ("\n\n".join([f"# {protocol.title}", *sections]) + "\n").encode())
    return page


# -- parts of the page -------------------------------------------------------------------------------------------------


def _cut(protocol: Protocol, whole: Protocol) -> str:
    changed = [
        f"{field.name.replace('_', ' ')} {_value(getattr(protocol, field.name))} instead of "
        f"{_value(getattr(whole, field.name))}"
        for field in dataclasses.fields(Protocol)
        if field.name not in ("title", "network") and getattr(protocol, field.name) != getattr(whole, field.name)
    ]
    return f"Departs from the papers: {'; '.join(changed)}." if changed else "Nothing is scaled down."


def _setting(protocol: Protocol) -> str:
    prior = "He's prior" if protocol.prior_scale is None else f"prior std {protocol.prior_scale:g}"
    if protocol.kl_epochs is not None:
        annealing = f"KL weight rising over {protocol.kl_epochs} epochs"
    else:
        annealing = (
            "no KL annealing" if protocol.kl_coefficient is None else f"KL annealing {protocol.kl_coefficient:g}"
        )
    return (
        f"{protocol.epochs} epochs of Adam at {protocol.learning_rate:g}, batches of {protocol.batch_size}, {prior}, "
        f"initial std {protocol.init_scale:g}, {annealing}; test data, {protocol.num_samples} weight samples, ± is the "
        "standard error over test examples. -ELBO is per example, with the KL at weight 1."
    )


def _judged_table(ours: Mapping[Rank, Measured], theirs: Mapping[Rank, Row], results: Results | None = None) -> Table:
    rows = []
    for rank, found in ours.items():
        cells = []
        for name in METRICS:
            paper, own, _ = _beside(theirs.get(rank, {}).get(name), found.metrics[name])
            cells += [paper, own]
        more = (f"{found.num_params:,}", f"{results.judged[rank].seconds_per_epoch:.2f}") if results else ()
        rows.append((method_name(rank), *cells, f"{found.kl_per_example:.4g}", *more))
    columns = [f"{TITLES[name]}{where}" for name in METRICS for where in (", paper", ", ours")]
    last = ("parameters", "s / epoch") if results else ()
    return Table(("rank", *columns, "KL / N", *last), rows)


def _floors_table(results: Results) -> Table:
    floors = list(next(iter(results.floors.values())))
    rows = [(str(rank), *(f"{found[floor]:.4g}" for floor in floors)) for rank, found in results.floors.items()]
    return Table(("rank", *(f"{floor:g}" for floor in floors)), rows)


def _convergence(protocol: Protocol, targets: Targets, results: Results, picture: str) -> str:
    columns = ("start", "rank", *(f"step {step:,}{w}" for step in protocol.signal_steps for w in (", paper", ", ours")))
    rows = []
    for start, plain in results.plain.items():
        for rank, found in plain.items():
            papers = targets.converging.get(rank, {})
            cells = [cell for s in protocol.signal_steps for cell in (_number(papers.get(s)), _mean(found.at(s)))]
            rows.append((_start(start), method_name(rank), *cells))
    return (
        "## Convergence without annealing\n\n-ELBO per example on the validation data, "
        f"{'one seed' if protocol.seeds == 1 else f'± is the standard error over {protocol.seeds} seeds'}.\n\n"
        f"{Table(columns, rows, left=2).markdown()}\n\n{picture}"
    )


def _signal(protocol: Protocol, targets: Targets, results: Results) -> str:
    parts = [
        f"## Signal in gradients\n\nOf the standard deviations of `{protocol.signal_weight}` over the last 10 batches: "
        "of log std under the mean field, of both factors under a tie, of the loss per example. *Printed* is "
        "E[g²] / Var[g²] as in the paper (erratum E12), *usual* E[g]² / Var[g], *dimensionless* E[g²]² / Var[g²]. "
        "*Scale* is the factor on the loss with which the printed one would be the paper's number: one loss scale "
        "explains the paper only if it is the same in all cells. The mean over numbers, which the paper takes, follows "
        "the few whose gradients hardly vary; the median does not."
    ]
    for start, plain in results.plain.items():
        rows = []
        for rank, found in plain.items():
            for (reading, statistic), values in found.signal.items():
                ours = dict(zip(protocol.signal_steps, values.T, strict=True))
                papers = targets.signal.get(rank, {}) if (reading, statistic) == ("printed", "mean") else {}
                cells = [_mean(value) for value in ours.values()]
                theirs = [_number(papers.get(step)) for step in ours]
                scales = [_scale(value, papers.get(step)) for step, value in ours.items()]
                rows.append((reading, statistic, method_name(rank), *cells, *theirs, *scales))
        rows.sort(key=lambda row: (("printed", "usual", "dimensionless").index(row[0]), row[1] != "mean"))
        steps = [f"{step:,}" for step in protocol.signal_steps]
        columns = (
            "reading",
            "statistic",
            "rank",
            *steps,
            *(f"{s}, paper" for s in steps),
            *(f"{s}, scale" for s in steps),
        )
        parts.append(f"{_start(start)}\n\n{Table(columns, rows, left=3).markdown()}")
    return "\n\n".join(parts)


def _scale(ours: np.ndarray, paper: float | None) -> str:
    """c with printed(ours) / c^2 = paper: a loss times c has gradients times c."""
    return "" if paper is None else f"{math.sqrt(float(ours.mean()) / paper):.3g}"


def _pictures(protocol: Protocol, results: Results) -> dict[str, Picture]:
    maps = sorted(approximate_stds(results.full), key=lambda each: -each.std.size)[:SHOWN]
    found = {
        "spectra.png": Picture(
            spectra_plot(spectra(results.full)),
            "Spectra of the mean field",
            "Explained variance by singular value, of means and of standard deviations.",
        ),
        "stds.png": Picture(
            std_heat_maps(maps),
            "Standard deviations of the mean field",
            "As trained, and approximated by rank 1 and 2.",
        ),
    }
    if results.plain:
        panels = {
            _start(start): {f"rank {method_name(rank)}": (each.steps, each.curve) for rank, each in plain.items()}
            for start, plain in results.plain.items()
        }
        caption = "Validation data, no annealing; the line is the mean over seeds, the band reaches from the lowest to "
        found["convergence.png"] = Picture(
            training_lines(panels, "−ELBO per example"), "Convergence", f"{caption}the highest."
        )
    return found


# -- cells -------------------------------------------------------------------------------------------------------------


def _beside(paper: Estimate | None, ours: Estimate) -> tuple[str, str, str]:
    """Both, and their distance in standard errors of the difference."""
    if paper is None:
        return "", str(ours), ""
    error = math.hypot(paper.standard_error, ours.standard_error)
    return f"{paper.value:.4g} ± {paper.standard_error:.2g}", str(ours), f"{(ours.value - paper.value) / error:+.1f}"


def _mean(values: np.ndarray) -> str:
    """Over seeds; of one alone without an error."""
    return f"{values[0]:.4g}" if len(values) == 1 else str(Estimate.of_mean(values))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _start(start: Start) -> str:
    return f"σ₀ {start.init_scale:g}, learning rate {start.learning_rate:g}"


def _floor(protocol: Protocol) -> float:
    return protocol.floors[len(protocol.floors) // 2]


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(_start(each) if isinstance(each, Start) else f"{each}" for each in value) or "none"
    return str(value)
