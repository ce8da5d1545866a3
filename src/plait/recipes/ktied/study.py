"""All posteriors of a protocol: trained, truncated, their spectra, the signal in their gradients, their convergence.

Each part is kept in a folder of its own in the output, and is not done twice. At the end the page is written.
"""

from dataclasses import dataclass
from pathlib import Path

from plait.analysis import truncate
from plait.data import Dataset
from plait.model import BayesianModel
from plait.recipes.ktied.measuring import Measured, measure
from plait.recipes.ktied.protocol import Protocol, Rank, Start, method_name
from plait.recipes.ktied.training import Judged, Plain, train_judged, train_plain


@dataclass(frozen=True, eq=False)
class Results:
    """Everything that was found."""

    judged: dict[Rank, Judged]
    trained: dict[Rank, Measured]
    truncated: dict[Rank, Measured]
    """The mean field cut off; None is the mean field itself."""
    floors: dict[int, dict[float, float]]
    """KL / N of truncated posteriors by rank and floor."""
    plain: dict[Start, dict[Rank, Plain]]

    @property
    def full(self) -> BayesianModel:
        """The trained mean field."""
        return self.judged[None].model


def run_study(protocol: Protocol, output: Path, *, data_dir: str | None = None, seed: int = 0) -> Results:
    """Do what is not done yet."""
    dataset = protocol.load(data_dir)
    judged: dict[Rank, Judged] = {}
    trained: dict[Rank, Measured] = {}
    for rank in protocol.methods:
        folder = output / f"trained-{method_name(rank)}"
        judged[rank] = one = train_judged(protocol, dataset, rank, folder, seed=seed)
        trained[rank] = measure(protocol, dataset, lambda one=one: one.model, folder / "metrics.json", seed=seed)
        _tell(f"trained {method_name(rank)}: {one.seconds:.0f} s, {_shown(trained[rank])}")
    truncated, floors = _truncated(protocol, dataset, judged[None].model, output, seed)
    plain = {
        start: {
            rank: _plain(protocol, dataset, rank, start, output / f"plain-{number}-{method_name(rank)}", seed)
            for rank in protocol.methods
        }
        for number, start in enumerate(protocol.starts, 1)
    }
    return Results(judged, trained, {None: trained[None]} | truncated, floors, plain)


def _truncated(
    protocol: Protocol, dataset: Dataset, full: BayesianModel, output: Path, seed: int
) -> tuple[dict[Rank, Measured], dict[int, dict[float, float]]]:
    floor, size = protocol.floors[len(protocol.floors) // 2], len(dataset.train.x)
    found: dict[Rank, Measured] = {}
    floors: dict[int, dict[float, float]] = {}
    for rank in protocol.ranks:
        cut = truncate(full, dict.fromkeys(protocol.tied, rank), floor=floor)
        file = output / "trained-full" / f"truncated-{rank}.json"
        found[rank] = measure(protocol, dataset, lambda cut=cut: cut, file, seed=seed)
        floors[rank] = {
            each: float(truncate(full, dict.fromkeys(protocol.tied, rank), floor=each).kl()) / size
            for each in protocol.floors
        }
        _tell(f"truncated to {rank}: {_shown(found[rank])}")
    return found, floors


def _plain(protocol: Protocol, dataset: Dataset, rank: Rank, start: Start, folder: Path, seed: int) -> Plain:
    found = train_plain(protocol, dataset, rank, start, folder, seed=seed)
    last = protocol.signal_steps[-1]
    _tell(f"plain {method_name(rank)}, {start}: {found.seconds:.0f} s, -ELBO {found.at(last).mean():.3f} at {last:,}")
    return found


def _shown(found: Measured) -> str:
    return ", ".join(f"{name} {estimate}" for name, estimate in found.metrics.items())


def _tell(line: str) -> None:
    print(line, flush=True)
