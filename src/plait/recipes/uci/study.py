"""All methods on all sets, case by case: what is done is not done again.

plait reproduce nng-uci      or, cut short,      python -m plait.recipes.uci.study --sets yacht boston --methods nng-mvg
"""

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait.data.suggest import suggestion
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


@dataclass(frozen=True)
class Cut:
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
    seed: int = 0
    """Of everything random."""
    output: Path | None = None
    """The folder to write, or to go on in."""
    data_dir: str | None = None
    """A folder with data sets."""

    def applied(self, protocol: Protocol) -> Protocol:
        """The protocol with these changes."""
        return dataclasses.replace(protocol, **{name: value for name, value in self._given().items() if name != "seed"})

    def shown(self) -> str:
        """As they are typed, but for places."""
        parts = []
        for name, value in self._given().items():
            values = value if isinstance(value, tuple) else (value,)
            parts.append(f"--{name.replace('_', '-')} {' '.join(map(str, values))}")
        return " ".join(parts)

    def _given(self) -> dict[str, Any]:
        fields = [field for field in dataclasses.fields(self) if field.name not in ("output", "data_dir")]
        return {f.name: getattr(self, f.name) for f in fields if getattr(self, f.name) != f.default}


def reproduce(output: Path, *, data_dir: str | None = None, seed: int = 0, quick: bool = False) -> Table:
    """The whole study, or a small one that shows no more than that it runs."""
    protocol = QUICK if quick else PROTOCOL
    command = f"plait reproduce nng-uci{' --quick' if quick else ''}{f' --seed {seed}' if seed else ''}"
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


def main(argv: Sequence[str] | None = None) -> int:
    """The study with changes, from the command line; the result is the exit code."""
    import tyro

    cut = tyro.cli(Cut, args=argv)
    output = Path("results") / "nng-uci" if cut.output is None else cut.output
    command = f"python -m plait.recipes.uci.study {cut.shown()}".strip()
    try:
        table = run_study(cut.applied(PROTOCOL), output, command, data_dir=cut.data_dir, seed=cut.seed)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(table.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
