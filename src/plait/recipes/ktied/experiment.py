"""A study by name: its protocol, its small variant and the papers' numbers, for `plait reproduce` and by itself."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plait.recipes.cut import Cut, reproduce_command, run_cut
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
        command = reproduce_command(self.name, quick=quick, seed=seed)
        return self._run(protocol, targets, output, command, data_dir, seed)

    def cut_short(self, cut: "Changes") -> Table:
        """The study with less training."""
        protocol, command = cut.applied(self.protocol), cut.command(f"ktied.{self.module}")
        return self._run(protocol, self.targets, cut.folder(self.name), command, cut.data_dir, cut.seed)

    def _run(
        self, protocol: Protocol, targets: Targets, output: Path, command: str, data_dir: str | None, seed: int
    ) -> Table:
        results = run_study(protocol, output, data_dir=data_dir, seed=seed)
        write_page(output, self.name, protocol, self.protocol, targets, results, command)
        return comparison_table(protocol, targets, results)


@dataclass(frozen=True, kw_only=True)
class Changes(Cut):
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

    def applied(self, protocol: Protocol) -> Protocol:
        """The protocol with these changes."""
        given = self.changes()
        if "starts" in given:
            given["starts"] = protocol.starts[: self.starts]
        return dataclasses.replace(protocol, **given)


def main(experiment: Experiment, argv: Sequence[str] | None = None) -> int:
    """The study of a network with changes, from the command line; the result is the exit code."""
    return run_cut(Changes, experiment.cut_short, argv)
