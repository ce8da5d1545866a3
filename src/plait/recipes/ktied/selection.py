"""Prior standard deviation and learning rate from the papers' grid, by -ELBO on validation data.

python -m plait.recipes.ktied.selection mlp --rank 2 --epochs 20
"""

import dataclasses
import importlib
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from plait._table import Table
from plait.recipes.ktied.experiment import Experiment
from plait.recipes.ktied.protocol import Protocol, Rank
from plait.recipes.ktied.training import train_judged


@dataclass(frozen=True)
class Tried:
    """One point of the grid."""

    prior_scale: float
    learning_rate: float
    negative_elbo: float
    """Per example, on the validation data, after the last epoch."""


def try_grid(
    protocol: Protocol, rank: Rank, output: Path, *, data_dir: str | None = None, seed: int = 0
) -> list[Tried]:
    """Train at every point of the protocol's grid; points that were done before are read. The best comes first."""
    dataset = protocol.load(data_dir)
    if dataset.validation is None:
        raise ValueError(f"{dataset.name} has no validation data to select by")
    tried = []
    for prior_scale, learning_rate in itertools.product(protocol.prior_scales, protocol.learning_rates):
        changed = dataclasses.replace(protocol, prior_scale=prior_scale, learning_rate=learning_rate)
        folder = output / f"prior-{prior_scale:g}-rate-{learning_rate:g}"
        history = train_judged(changed, dataset, rank, folder, seed=seed).history
        tried.append(Tried(prior_scale, learning_rate, float(history["validation_negative_elbo"][-1])))
    return sorted(tried, key=lambda each: each.negative_elbo)


def table(tried: list[Tried]) -> Table:
    """The best first."""
    rows = [(f"{each.prior_scale:g}", f"{each.learning_rate:g}", f"{each.negative_elbo:.4f}") for each in tried]
    return Table(("prior std", "learning rate", "validation -ELBO"), rows, left=0)


@dataclass(frozen=True)
class Options:
    """Choose the prior's standard deviation and the learning rate by validation data."""

    network: tyro.conf.Positional[Literal["mlp", "lenet", "lstm", "resnet"]]
    """Whose protocol."""
    rank: int | None = None
    """Of the tie; by default the mean field."""
    epochs: int | None = None
    """Of each run; by default as in the papers."""
    seed: int = 0
    """Of everything random."""
    output: Path | None = None
    """The folder to write, or to go on in; by default results/selection-NETWORK-RANK."""
    data_dir: str | None = None
    """A folder with data sets."""


def main(options: Options) -> None:
    """Train, and print the grid."""
    experiment: Experiment = importlib.import_module(f"plait.recipes.ktied.{options.network}").EXPERIMENT
    protocol = experiment.protocol
    if options.epochs is not None:
        protocol = dataclasses.replace(protocol, epochs=options.epochs)
    name = f"selection-{options.network}-{'full' if options.rank is None else options.rank}"
    output = Path("results") / name if options.output is None else options.output
    print(table(try_grid(protocol, options.rank, output, data_dir=options.data_dir, seed=options.seed)).text())


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
