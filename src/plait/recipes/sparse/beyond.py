"""What paper 002 leaves for later, on MNIST: ties under ARD, natural gradients for factors, the frontier of sparsity.

plait reproduce matrix-normal-beyond
python -m plait.recipes.sparse.beyond --epochs 10 --only factors
"""

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from plait.checkpoint.atomic import write_whole
from plait.recipes.cut import Cut, reproduce_command, run_cut
from plait.recipes.sparse import mlp
from plait.recipes.sparse.factors import factors_picture, factors_table, run_factors
from plait.recipes.sparse.frontier import frontier_picture, frontier_table, run_frontier
from plait.recipes.sparse.page import comparison_table, quality_table, setting
from plait.recipes.sparse.protocol import Protocol
from plait.recipes.sparse.study import Chapter, run_study
from plait.report import Picture, Table

NAME = "matrix-normal-beyond"
Study = Literal["ties", "factors", "frontier"]
PROTOCOL = dataclasses.replace(
    mlp.MNIST,
    name="ties",
    title="MNIST, MLP of 3 x 300: beyond paper 002",
    posteriors=("DIAG", "Tied(1)", "Tied(2)", "MN"),
    sparsities=("independent", "groups"),
)
SMALL = dataclasses.replace(mlp.SMALL, name="ties", posteriors=("Tied(2)", "MN"), sparsities=("independent",), epochs=2)


@dataclass(frozen=True, kw_only=True)
class Changes(Cut):
    """What to change; what is not given is as it is."""

    only: tuple[Study, ...] = get_args(Study)
    """Which studies."""
    epochs: int | None = None
    """Of training; the schedules are squeezed with it."""
    fine_tune: int | None = None
    """Epochs after zeroing."""


def reproduce(output: Path, *, data_dir: str | None = None, seed: int = 0, quick: bool = False) -> Table:
    """All three, or small ones."""
    command = reproduce_command(NAME, quick=quick, seed=seed)
    return _run(SMALL if quick else PROTOCOL, get_args(Study), output, command, data_dir, seed)


def cut_short(cut: Changes) -> Table:
    """With less of it."""
    changes = {name: value for name, value in cut.changes().items() if name != "only"}
    protocol, command = dataclasses.replace(PROTOCOL, **changes), cut.command("sparse.beyond")
    return _run(protocol, cut.only, cut.folder(NAME), command, cut.data_dir, cut.seed)


def _run(
    protocol: Protocol, only: Sequence[Study], output: Path, command: str, data_dir: str | None, seed: int
) -> Table:
    sections, table = [f"Made by `{command}`.", setting(protocol)], Table(("study",), [(name,) for name in only])
    dataset = protocol.load(data_dir)
    if "ties" in only:
        results = run_study((Chapter(protocol),), output, data_dir=data_dir, seed=seed)
        table = comparison_table(results)
        sections += [
            "## Ties under ARD",
            "A k-tied posterior has one standard deviation's worth of numbers for each row and column, a variance of "
            "its own for each weight's prior notwithstanding: how much sparsity does it find?",
            quality_table(results[0]).markdown(),
        ]
    if "factors" in only:
        courses = run_factors(protocol, dataset, output / "factors", seed=seed)
        table = factors_table(courses)
        text = (
            "Adam for all, against natural gradients of the covariance factors with Adam for means and biases; no "
            "annealing. Seconds are of training alone; an empty cell was not reached."
        )
        sections += ["## Natural gradients for the factors", text, table.markdown()]
        sections.append(_shown(output, "factors.png", factors_picture(courses)))
    if "frontier" in only:
        found = run_frontier(protocol, dataset, output / "frontier", seed=seed)
        table = frontier_table(found, tuned=bool(protocol.fine_tune))
        sections += [
            "## Accuracy against sparsity",
            "All weights compete for the share that is left; all networks were trained for the same epochs.",
            "As trained, with zeros:",
            frontier_table(found, tuned=False).markdown(),
            f"After {protocol.fine_tune} epochs of training on:",
            frontier_table(found, tuned=True).markdown(),
            _shown(output, "frontier.png", frontier_picture(found)),
        ]
    page = "\n\n".join([f"# {protocol.title}", *sections]) + "\n"
    write_whole(output / f"{NAME}.md", page.encode())
    return table


def _shown(output: Path, file: str, picture: Picture) -> str:
    (output / NAME).mkdir(parents=True, exist_ok=True)
    picture.save(output / NAME / file)
    return f"![{picture.title}]({NAME}/{file})\n\n*{picture.caption}*"


def main(argv: Sequence[str] | None = None) -> int:
    """The studies with changes, from the command line; the result is the exit code."""
    return run_cut(Changes, cut_short, argv)


if __name__ == "__main__":
    sys.exit(main())
