"""All methods of several protocols: trained, measured; at the end the page is written.

Each part is kept in a folder of its own in the output, <output>/<protocol>/<method>/, and is not done twice.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plait.recipes.part import Part
from plait.recipes.sparse.measuring import Measured, measure
from plait.recipes.sparse.methods import Method
from plait.recipes.sparse.protocol import Protocol
from plait.recipes.sparse.targets import Targets
from plait.recipes.sparse.training import Trained, train


@dataclass(frozen=True)
class Chapter:
    """A protocol and what the paper has to say of it."""

    protocol: Protocol
    targets: Targets = field(default_factory=Targets)


@dataclass(frozen=True, eq=False)
class Results:
    """What was found under one protocol, by method."""

    chapter: Chapter
    trained: dict[Method, Trained]
    measured: dict[Method, Measured]


def run_study(
    chapters: Sequence[Chapter], output: Path, *, data_dir: str | None = None, seed: int = 0
) -> list[Results]:
    """Do what is not done yet."""
    return [_run(chapter, output / chapter.protocol.name, data_dir, seed) for chapter in chapters]


def _run(chapter: Chapter, output: Path, data_dir: str | None, seed: int) -> Results:
    protocol = chapter.protocol
    dataset = protocol.load(data_dir)
    trained: dict[Method, Trained] = {}
    measured: dict[Method, Measured] = {}
    for method in protocol.methods:
        folder, settings = output / method.folder, settings_of(protocol, method, seed)
        trained[method] = one = train(protocol, dataset, method, Part(folder, settings), seed=seed)
        more = {"fine_tune": protocol.fine_tune, "num_samples": protocol.num_samples, "threshold": protocol.threshold}
        part = Part(folder / "measured", settings | more)
        measured[method] = found = measure(protocol, dataset, one.model, part, seed=seed)
        free = found.pruned["free"]
        print(
            f"{protocol.name}, {method.title}: {one.seconds:.0f} s, -ELBO {found.whole.negative_elbo}, accuracy "
            f"{found.whole.accuracy}, {free.left:,} of {free.weights:,} weights left with {free.quality.accuracy}",
            flush=True,
        )
    return Results(chapter, trained, measured)


def settings_of(protocol: Protocol, method: Method, seed: int) -> dict[str, Any]:
    """Everything that training depends on."""
    left_out = ("name", "title", "network", "posteriors", "sparsities", "fine_tune", "num_samples", "threshold")
    values = {f.name: getattr(protocol, f.name) for f in dataclasses.fields(Protocol) if f.name not in left_out}
    return {"method": method.title, "seed": seed} | values
