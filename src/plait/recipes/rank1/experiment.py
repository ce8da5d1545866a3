"""A study by name, for `plait reproduce`, and with changes for `python -m plait.recipes.rank1.experiment`."""

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

import tyro

from plait.recipes.cut import Cut, run_cut
from plait.recipes.rank1 import configs, targets
from plait.recipes.rank1.page import result_table, write_page
from plait.recipes.rank1.protocol import Protocol
from plait.recipes.rank1.study import Scope, Study
from plait.recipes.rank1.targets import Targets
from plait.report import Table


@dataclass(frozen=True)
class Experiment:
    """A protocol with the numbers to put beside it."""

    name: str
    """As `plait reproduce` knows it."""
    protocol: Protocol
    targets: tuple[Targets, ...] = ()
    exact: bool = False
    """Whether the targets are of this protocol."""
    scope: Scope = field(default_factory=Scope)

    def reproduce(self, output: Path, *, data_dir: str | None = None, seed: int = 0, quick: bool = False) -> Table:
        """The whole study; a quick one is shrunk and compared with nothing."""
        command = f"plait reproduce {self.name}{' --quick' if quick else ''}{f' --seed {seed}' if seed else ''}"
        if not quick:
            return self.run(self.protocol, self.scope, output, command, data_dir, seed)
        scope = Scope(seeds=1, variations=False, kinds=("gaussian_noise", "contrast"))
        bare = dataclasses.replace(self, targets=(), exact=False)
        return bare.run(configs.shrunk(self.protocol), scope, output, command, data_dir, seed)

    def run(
        self, protocol: Protocol, scope: Scope, output: Path, command: str, data_dir: str | None, seed: int
    ) -> Table:
        """Train and evaluate what is not there yet, and write the page."""
        study = Study(protocol, output, data_dir=data_dir, seed=seed, scope=scope)
        results, tables = study.main(), study.variations()
        write_page(output, self.name, protocol, results, tables, self.targets, command, exact=self.exact)
        return result_table(results, self.targets[0] if self.exact else None)


PAPER = (targets.CIFAR10, targets.CIFAR100)
EXPERIMENTS = {
    "rank1": Experiment("rank1", configs.MNIST, PAPER),
    "rank1-fashion": Experiment("rank1-fashion", configs.FASHION, PAPER),
    "rank1-wrn": Experiment("rank1-wrn", configs.CIFAR10_SMALL, PAPER, scope=Scope(seeds=1, variations=False)),
    "rank1-cifar10": Experiment("rank1-cifar10", configs.CIFAR10, (targets.CIFAR10,), exact=True),
    "rank1-cifar100": Experiment("rank1-cifar100", configs.CIFAR100, (targets.CIFAR100,), exact=True),
    "rank1-imdb": Experiment("rank1-imdb", configs.IMDB, scope=Scope(seeds=1, variations=False)),
    "rank1-events": Experiment("rank1-events", configs.EVENTS, scope=Scope(variations=False)),
}


@dataclass(frozen=True, kw_only=True)
class Changes(Cut):
    """What to change in a study; what is not given is as it is."""

    study: tyro.conf.Positional[
        Literal["rank1", "rank1-fashion", "rank1-wrn", "rank1-cifar10", "rank1-cifar100", "rank1-imdb", "rank1-events"]
    ]
    """Which."""
    epochs: int | None = None
    """Of training; annealing shrinks with it."""
    training_examples: int | None = None
    """So many of them."""
    corrupted_examples: int | None = None
    """Test pictures that are corrupted."""
    seeds: int | None = None
    """Of each method."""
    variations: bool = True
    """Whether to run the studies beside the main table."""
    only: tuple[str, ...] = ()
    """Methods of the main table."""
    published: Path | None = None
    """The folder CIFAR-10-C as it is published; without it corruptions are made on the fly."""

    positional: ClassVar[tuple[str, ...]] = ("study",)
    places: ClassVar[tuple[str, ...]] = ("published",)

    def applied(self, protocol: Protocol) -> Protocol:
        """The protocol with these changes."""
        names = ("training_examples", "corrupted_examples")
        given = {name: value for name, value in self.changes().items() if name in names}
        if self.epochs is not None:
            given |= {
                "epochs": self.epochs,
                "kl_epochs": max(1, round(protocol.kl_epochs * self.epochs / protocol.epochs)),
            }
        return dataclasses.replace(protocol, **given)


def cut_short(cut: Changes) -> Table:
    """A study with changes."""
    experiment = EXPERIMENTS[cut.study]
    seeds = experiment.scope.seeds if cut.seeds is None else cut.seeds
    runs = experiment.scope.variations and cut.variations
    scope = dataclasses.replace(experiment.scope, seeds=seeds, variations=runs, only=cut.only, published=cut.published)
    protocol, command = cut.applied(experiment.protocol), cut.command("rank1.experiment")
    return experiment.run(protocol, scope, cut.folder(cut.study), command, cut.data_dir, cut.seed)


def main(argv: Sequence[str] | None = None) -> int:
    """A study with changes, from the command line; the result is the exit code."""
    return run_cut(Changes, cut_short, argv)


if __name__ == "__main__":
    sys.exit(main())
