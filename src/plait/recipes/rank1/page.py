"""What a study found, as a table for a terminal and a page of markdown with figures.

<output>/NAME.md and the figures that it shows, in <output>/NAME/, may be copied to docs/results as they are.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plait.checkpoint.atomic import write_whole
from plait.data.corruption import SEVERITIES
from plait.metrics import Estimate
from plait.recipes.rank1.protocol import Protocol
from plait.recipes.rank1.scoring import METRICS, Result
from plait.recipes.rank1.study import Results
from plait.recipes.rank1.targets import COLUMNS, NAMES, Targets
from plait.report import Picture, Table, severity_boxes

TITLES = {"nll": "NLL", "accuracy": "accuracy", "ece": "ECE"}
BASE = "deterministic"


def result_table(results: Results, targets: Targets | None = None) -> Table:
    """A row for each method, means over seeds with the standard error over them; the paper's numbers in brackets."""
    base = results.get(BASE)
    corrupted = any(result.corrupted for found in results.values() for result in found)
    rows = []
    for name, found in results.items():
        paper: dict[str, str] = {}
        if targets is not None:
            paper |= zip(COLUMNS, targets.rows.get(NAMES.get(name, name), ()), strict=False)
        cells = [_cell([r.clean[m].value for r in found], paper.get(TITLES[m])) for m in METRICS]
        if corrupted:
            names = ("cNLL", "cA", "cECE")
            cells += [
                _cell([r.mean_corrupted(m) for r in found], paper.get(c)) for m, c in zip(METRICS, names, strict=True)
            ]
            errors = [r.corruption_error(b) for r, b in zip(found, base, strict=False)] if base else []
            cells.append(_cell(errors) if errors else "")
        rows.append((name, *cells, f"{found[0].num_params:,}", _milliseconds(found[0])))
    more = ("cNLL", "cA", "cECE", "mCE") if corrupted else ()
    return Table(("method", *(TITLES[m] for m in METRICS), *more, "parameters", "ms / step"), rows)


def verdicts(results: Results) -> list[tuple[str, bool]]:
    """The claims of the paper, and whether they came out here."""
    found: list[tuple[str, bool]] = []
    ours = results.get("rank-1 Gaussian")
    if not ours:
        return found
    for other in (BASE, "mean field"):
        if other not in results:
            continue
        theirs = results[other]
        for metric in ("nll", "ece"):
            clean = _mean(ours, metric) < _mean(theirs, metric)
            found.append((f"rank-1 Gaussian has a lower {TITLES[metric]} than {other}", clean))
            if ours[0].corrupted:
                worse = np.mean([r.mean_corrupted(metric) for r in ours]) < np.mean(
                    [r.mean_corrupted(metric) for r in theirs]
                )
                found.append((f"and a lower c{TITLES[metric]}", bool(worse)))
    if BASE in results:
        ratio = ours[0].num_params / results[BASE][0].num_params
        found.append((f"at {ratio:.3f} times the parameters of one network", ratio < 1.1))
    return found


def write_page(
    output: Path,
    name: str,
    protocol: Protocol,
    results: Results,
    tables: dict[str, Results],
    targets: Sequence[Targets],
    command: str,
    *,
    exact: bool,
) -> Path:
    """Write the page and its figures; `exact` says that the targets are of the same protocol."""
    figures = output / name
    figures.mkdir(exist_ok=True, parents=True)
    seeds = max(len(found) for found in results.values())
    over = f"± is the standard error over {seeds} seeds" if seeds > 1 else "one seed"
    setting = (
        f"{protocol.epochs} epochs of batches of {protocol.batch_size} different examples, KL annealed over "
        f"{protocol.kl_epochs}, `kl_reduction={protocol.kl_reduction!r}`, l2 {protocol.l2:g}; {over}. A rank-1 or "
        f"batch-ensemble step shows every example to {protocol.components} components, a step of the others to one "
        "network: read *ms / step* with that in mind. That of an ensemble is of all its networks."
    )
    sections = [
        f"Made by `{command}`.",
        f"## Methods\n\n{setting}\n\n{result_table(results, targets[0] if exact and targets else None).markdown()}",
    ]
    if claims := verdicts(results):
        lines = "\n".join(f"- {'yes' if holds else '**no**'}: {claim}" for claim, holds in claims)
        sections.append(f"## Claims of the paper\n\n{lines}")
    if any(result.corrupted for found in results.values() for result in found):
        picture = _boxes(results)
        picture.save(figures / "severity.png")
        sections.append(f"## By severity\n\n![{picture.title}]({name}/severity.png)\n\n*{picture.caption}*")
    for title, table in tables.items():
        sections.append(f"## {title}\n\n{result_table(table).markdown()}")
    if targets and not exact:
        parts = [f"{t.title}\n\n{Table(('method', *COLUMNS), _rows(t)).markdown()}" for t in targets]
        sections.append(
            "## What the paper reports\n\nOf larger networks, on other data: the order of methods is what to compare."
            "\n\n" + "\n\n".join(parts)
        )
    page = output / f"{name}.md"
    write_whole(page, ("\n\n".join([f"# {protocol.title}", *sections]) + "\n").encode())
    return page


def _rows(targets: Targets) -> list[tuple[str, ...]]:
    return [(method, *numbers) for method, numbers in targets.rows.items()]


def _boxes(results: Results) -> Picture:
    by_metric = {
        TITLES[metric]: {
            name: {0: np.array([_mean(found, metric)])}
            | {
                severity: np.mean([result.at_severity(metric, severity) for result in found], axis=0)
                for severity in SEVERITIES
            }
            for name, found in results.items()
        }
        for metric in METRICS
    }
    kinds = len(next(iter(results.values()))[0].corrupted)
    caption = (
        f"Boxes over {kinds} types of corruption, means over seeds; whiskers reach to the best and the worst type."
    )
    return Picture(severity_boxes(by_metric), "Corrupted pictures", caption)


def _milliseconds(result: Result) -> str:
    """Of one epoch there is none without compilation."""
    return "" if math.isnan(result.seconds_per_step) else f"{1e3 * result.seconds_per_step:.3g}"


def _mean(found: Sequence[Result], metric: str) -> float:
    return float(np.mean([result.clean[metric].value for result in found]))


def _cell(values: Sequence[float], paper: str | None = None) -> str:
    own = str(Estimate.of_mean(values)) if len(values) > 1 else f"{values[0]:.4g}"
    return own if paper is None else f"{own} ({paper})"
