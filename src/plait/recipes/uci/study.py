"""All methods on all sets, case by case: what is done is not done again.

plait reproduce nng-uci      or, cut short,      python -m plait.recipes.uci.study --sets yacht boston --methods nng-mvg
"""

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plait.data.suggest import suggestion
from plait.recipes.cut import Cut, reproduce_command, run_cut
from plait.recipes.uci.methods import METHODS
from plait.recipes.uci.page import Results, comparison_table, write_page
from plait.recipes.uci.protocol import Protocol
from plait.recipes.uci.training import Case, Found, run_part
from plait.report import Table

PROTOCOL = Protocol()
QUICK = Protocol(
    sets=("yacht",),
    methods=("deterministic", "pbp", "nng-mvg"),
    layers=(1,),
    splits=2,
    epochs=20,
    pbp_epochs=2,
    train_samples=2,
    test_samples=10,
)


@dataclass(frozen=True, kw_only=True)
class Changes(Cut):
    """What to change in the study; what is not given is as in the paper."""

    sets: tuple[str, ...] | None = None
    """Of the nine."""
    methods: tuple[str, ...] | None = None
    """By name; an unknown one lists them."""
    layers: tuple[int, ...] | None = None
    """Hidden layers."""
    splits: int | None = None
    """Of each set, the first so many."""
    epochs: int | None = None
    """Of every method but PBP."""
    pbp_epochs: int | None = None
    """Of PBP."""
    train_samples: int | None = None
    """Weight samples in a step."""
    curvature_every: int | None = None
    """Steps between batches that enter the curvature, and between decompositions."""
    learning_rate: float | None = None
    """Of all methods."""

    def applied(self, protocol: Protocol) -> Protocol:
        """The protocol with these changes."""
        return dataclasses.replace(protocol, **self.changes())


def reproduce(output: Path, *, data_dir: str | None = None, seed: int = 0, quick: bool = False) -> Table:
    """The whole study, or a small one that shows no more than that it runs."""
    protocol = QUICK if quick else PROTOCOL
    command = reproduce_command("nng-uci", quick=quick, seed=seed)
    return run_study(protocol, output, command, data_dir=data_dir, seed=seed)


def run_study(protocol: Protocol, output: Path, command: str, *, data_dir: str | None = None, seed: int = 0) -> Table:
    """Do what is not done yet, and write the page after each set."""
    methods = _check(protocol)
    results: Results = {}
    for layers in protocol.layers:
        for method in methods:
            for name in protocol.sets:
                case = Case(name, method, layers)
                results[case] = found = run_part(protocol, case, output, data_dir=data_dir, seed=seed)
                _tell(case, found)
                write_page(output, protocol, PROTOCOL, results, command)
    return comparison_table(results)


def _check(protocol: Protocol) -> tuple[str, ...]:
    methods = tuple(METHODS) if protocol.methods is None else protocol.methods
    for what, names, known in (("method", methods, METHODS), ("set", protocol.sets, PROTOCOL.sets)):
        for name in names:
            if name not in known:
                raise ValueError(f"unknown {what} {name!r}{suggestion(name, known)}: known are {', '.join(known)}")
    return methods


def _tell(case: Case, found: Found) -> None:
    rmse, log_likelihood = found.estimates()
    print(
        f"{case.folder}: RMSE {rmse}, LL {log_likelihood}; {found.seconds:.0f} s, "
        f"{found.milliseconds_per_step:.2f} ms a step",
        flush=True,
    )


def cut_short(cut: Changes) -> Table:
    """The study with changes."""
    command = cut.command("uci.study")
    return run_study(cut.applied(PROTOCOL), cut.folder("nng-uci"), command, data_dir=cut.data_dir, seed=cut.seed)


def main(argv: Sequence[str] | None = None) -> int:
    """The study with changes, from the command line; the result is the exit code."""
    return run_cut(Changes, cut_short, argv)


if __name__ == "__main__":
    sys.exit(main())
