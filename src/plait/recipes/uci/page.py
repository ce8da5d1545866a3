"""What the study found beside what is reported: a table for a terminal, and a page of markdown with its figures.

<output>/nng-uci.md and the figures in <output>/nng-uci/ may be copied to docs/results as they are.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from plait.checkpoint.atomic import write_whole
from plait.metrics import Estimate
from plait.recipes.uci.methods import METHODS
from plait.recipes.uci.protocol import SMALL, Protocol
from plait.recipes.uci.targets import OTHERS, PAPER, Target, ceiling, is_met
from plait.recipes.uci.training import Case, Found
from plait.report import Picture, Table
from plait.report.curves import Curve, curves

Results = dict[Case, Found]

NOTES = """Epochs, batches, draws and rates are those of MATH 3.2, all splits of a set are trained as one program. The
Gamma posterior of the noise precision is set in closed form by natural gradients and trained by Adam elsewhere; it is
integrated out in predictions. The curvature takes in a batch, and is decomposed, every {every} steps, with a rate that
makes it as slow as the paper's at every step. Deterministic networks, ensembles and dropout have the prior as weight
decay. PBP follows its authors' filter with {pbp} passes. PBP_MV has no row: it
filters matrix normals by rules of its own, and is quoted."""


def comparison_table(results: Results) -> Table:
    """A row for each case whose method has a column in the paper, and whether the target is met."""
    rows = []
    for case, found in results.items():
        target = _target(case)
        if target is None:
            continue
        rmse, log_likelihood = found.estimates()
        met = is_met(case.name, rmse.value, log_likelihood.value, target)
        rows.append(
            (
                str(case.layers), case.name, METHODS[case.method].title,
                _printed(target.rmse), str(rmse), _word(met[0]),
                _printed(target.log_likelihood), str(log_likelihood), _word(met[1]),
                f"{ceiling(rmse.value, found.target_std, found.size):.3f}",
                f"{ceiling(target.rmse.value, found.target_std, found.size):.3f}",
            )
        )  # fmt: skip
    columns = ("hidden", "set", "method", "RMSE, paper", "RMSE, ours", "met", "LL, paper", "LL, ours", "met")
    return Table((*columns, "LL ceiling, our RMSE", "LL ceiling, paper's RMSE"), rows, left=3)


def write_page(output: Path, protocol: Protocol, whole: Protocol, results: Results, command: str) -> Path:
    """Write the page and its figures; `whole` is the protocol with nothing left out."""
    sections = [
        "# UCI regressions: noisy natural gradient and its baselines\n\n"
        f"Made by `{command}`.\n\n{_cut(protocol, whole)}",
        NOTES.format(every=protocol.curvature_every, pbp=protocol.pbp_epochs).replace("\n", " "),
        "± is the standard error over splits. A target is met if ours is at least as good but for two standard errors "
        "of PBP on that set: the paper's own errors are too small to be over splits. The ceiling is the log-likelihood "
        "at that RMSE under the best noise that the Gamma prior allows; PBP filters the noise, and may be above it.",
        f"## Beside the paper\n\n{comparison_table(results).markdown()}\n\n{_count(results)}",
    ]
    for layers in dict.fromkeys(case.layers for case in results):
        own = {case: found for case, found in results.items() if case.layers == layers}
        heading = f"{layers} hidden layer{'s' if layers > 1 else ''}"
        sections += [
            f"## {heading}: RMSE\n\n{_all_table(own, 0).markdown()}",
            f"## {heading}: log-likelihood\n\n{_all_table(own, 1).markdown()}",
            f"## {heading}: cost\n\nMilliseconds of a step of all splits together, and minutes of training.\n\n"
            f"{_cost_table(own).markdown()}\n\n{_column_minutes(own)}".rstrip(),
        ]
    figures = output / "nng-uci"
    figures.mkdir(parents=True, exist_ok=True)
    for file, picture in _pictures(results).items():
        picture.save(figures / file)
        sections.append(f"## {picture.title}\n\n![{picture.title}](nng-uci/{file})\n\n*{picture.caption}*")
    page = output / "nng-uci.md"
    write_whole(page, ("\n\n".join(sections) + "\n").encode())
    return page


# -- parts of the page -------------------------------------------------------------------------------------------------


def _cut(protocol: Protocol, whole: Protocol) -> str:
    changed = [
        f"{field.name.replace('_', ' ')} {_value(getattr(protocol, field.name))} instead of "
        f"{_value(getattr(whole, field.name))}"
        for field in dataclasses.fields(Protocol)
        if getattr(protocol, field.name) != getattr(whole, field.name)
    ]
    return f"Departs from the whole study: {'; '.join(changed)}." if changed else "Nothing is scaled down."


def _count(results: Results) -> str:
    lines = []
    for method in dict.fromkeys(case.method for case in results):
        met, missed = [0, 0], []
        compared = [(case, target) for case in results if case.method == method and (target := _target(case))]
        for case, target in compared:
            rmse, log_likelihood = results[case].estimates()
            both = is_met(case.name, rmse.value, log_likelihood.value, target)
            met = [count + fine for count, fine in zip(met, both, strict=True)]
            missed += [f"{case.name} ({case.layers})"] * (not all(both))
        if compared:
            rest = f"; not both: {', '.join(missed)}" if missed else ""
            of = f"RMSE met on {met[0]} and log-likelihood on {met[1]} of {len(compared)}"
            lines.append(f"{METHODS[method].title}: {of}{rest}.")
    failed = [
        f"{case.folder}: splits {', '.join(map(str, found.failed))}" for case, found in results.items() if found.failed
    ]
    lines += [f"Not finite at some step, and taken from before it: {'; '.join(failed)}."] if failed else []
    return "\n\n".join(lines)


def _all_table(results: Mapping[Case, Found], number: int) -> Table:
    """Sets by methods, then what others report; number 0 is the RMSE, 1 the log-likelihood."""
    methods = list(dict.fromkeys(case.method for case in results))
    sets = list(dict.fromkeys(case.name for case in results))
    layers = next(iter(results)).layers
    paper = PAPER.get(layers, {})
    others = OTHERS if number == 1 else {}
    rows = []
    for name in sets:
        found = {case.method: each.estimates()[number] for case, each in results.items() if case.name == name}
        ours = [str(found[method]) if method in found else "" for method in methods]
        printed = [_cell(column.get(name), number) for column in paper.values()]
        rows.append((name, *ours, *printed, *(f"{column[name]:g}" for column in others.values())))
    titles = [METHODS[method].title for method in methods]
    return Table(("set", *titles, *(f"{column}, paper" for column in paper), *(f"{c}, others" for c in others)), rows)


def _cost_table(results: Mapping[Case, Found]) -> Table:
    methods = list(dict.fromkeys(case.method for case in results))
    rows = []
    for name in dict.fromkeys(case.name for case in results):
        own = {case.method: found for case, found in results.items() if case.name == name}
        cells = [f"{own[m].milliseconds_per_step:.2f}, {own[m].seconds / 60:.1f}" if m in own else "" for m in methods]
        rows.append((name, *cells))
    return Table(("set", *(METHODS[method].title for method in methods)), rows)


def _column_minutes(results: Mapping[Case, Found]) -> str:
    own = {case.name: found.seconds for case, found in results.items() if case.method == "nng-mvg"}
    if not set(SMALL) <= own.keys():
        return ""
    return f"Noisy K-FAC on the eight smaller sets: {sum(own[name] for name in SMALL) / 60:.1f} minutes."


def _pictures(results: Results) -> dict[str, Picture]:
    found = {}
    for layers in dict.fromkeys(case.layers for case in results):
        own = {case: each for case, each in results.items() if case.layers == layers and each.curve.size}
        panels = {
            name: {
                METHODS[case.method].title: Curve(each.steps, each.seconds_at, each.curve.mean(axis=1))
                for case, each in own.items()
                if case.name == name and not METHODS[case.method].is_point
            }
            for name in dict.fromkeys(case.name for case in own)
        }
        panels = {name: lines for name, lines in panels.items() if lines}
        if panels:
            found[f"curves-{layers}.png"] = Picture(
                curves(panels, "−ELBO per example"),
                f"Training, hidden layers: {layers}",
                "Training data, the mean over an epoch and over splits, by iteration and by second; the seconds are of "
                "all splits as one program.",
            )
    return found


# -- cells -------------------------------------------------------------------------------------------------------------


def _target(case: Case) -> Target | None:
    column = METHODS[case.method].column
    return None if column is None else PAPER.get(case.layers, {}).get(column, {}).get(case.name)


def _cell(target: Target | None, number: int) -> str:
    return "" if target is None else _printed((target.rmse, target.log_likelihood)[number])


def _printed(estimate: Estimate) -> str:
    error = "" if estimate.standard_error != estimate.standard_error else f" ± {estimate.standard_error:.3f}"
    return f"{estimate.value:.3f}{error}"


def _word(met: bool) -> str:
    return "yes" if met else "no"


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
