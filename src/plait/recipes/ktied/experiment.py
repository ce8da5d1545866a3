"""A study by name: its protocol, its small variant and the papers' numbers, for `plait reproduce` and by itself."""

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait.recipes.ktied.page import comparison_table, write_page
from plait.recipes.ktied.protocol import Protocol
from plait.recipes.ktied.study import run_study
from plait.recipes.ktied.targets import Targets
from plait.report import Table


@dataclass(frozen=True)
class Experiment:
    """What a module of a network offers."""

    name: str
    """As `plait reproduce` knows it."""
    module: str
    """In `plait.recipes.ktied`."""
    protocol: Protocol
    small: Protocol
    targets: Targets

    def reproduce(self, output: Path, *, data_dir: str | None = None, seed: int = 0, quick: bool = False) -> Table:
        """The whole study; a small one is compared with nothing."""
        protocol, targets = (self.small, Targets()) if quick else (self.protocol, self.targets)
        command = f"plait reproduce {self.name}{' --quick' if quick else ''}{f' --seed {seed}' if seed else ''}"
        return self._run(protocol, targets, output, command, data_dir, seed)

    def cut_short(self, cut: "Cut") -> Table:
        """The study with less training."""
        output = Path("results") / self.name if cut.output is None else cut.output
        command = f"python -m plait.recipes.ktied.{self.module} {cut.shown()}".strip()
        return self._run(cut.applied(self.protocol), self.targets, output, command, cut.data_dir, cut.seed)

    def _run(
        self, protocol: Protocol, targets: Targets, output: Path, command: str, data_dir: str | None, seed: int
    ) -> Table:
        results = run_study(protocol, output, data_dir=data_dir, seed=seed)
        write_page(output, self.name, protocol, self.protocol, targets, results, command)
        return comparison_table(protocol, targets, results)


@dataclass(frozen=True)
class Cut:
    """What to change in a study; what is not given is as in the papers."""

    epochs: int | None = None
    """Of the runs that are judged."""
    num_samples: int | None = None
    """Weight samples in evaluations."""
    ranks: tuple[int, ...] | None = None
    """Of the ties."""
    signal_steps: tuple[int, ...] | None = None
    """Where signal and convergence are read off; the last one ends training."""
    seeds: int | None = None
    """Of the runs that signal and convergence are read off."""
    starts: int | None = None
    """So many of their starting points."""
    kl_coefficient: float | None = None
    """Rise of the KL weight for one step."""
    learning_rate: float | None = None
    """Of the runs that are judged."""
    prior_scale: float | None = None
    """Standard deviation of the prior."""
    seed: int = 0
    """Of everything random."""
    output: Path | None = None
    """The folder to write, or to go on in."""
    data_dir: str | None = None
    """A folder with data sets."""

    def applied(self, protocol: Protocol) -> Protocol:
        """The protocol with these changes."""
        given = self._given()
        if "starts" in given:
            given["starts"] = protocol.starts[: self.starts]
        given.pop("seed", None)
        return dataclasses.replace(protocol, **given)

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


def main(experiment: Experiment, argv: Sequence[str] | None = None) -> int:
    """The study of a network with changes, from the command line; the result is the exit code."""
    import tyro

    try:
        table = experiment.cut_short(tyro.cli(Cut, args=argv))
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    print(table.text())
    return 0
