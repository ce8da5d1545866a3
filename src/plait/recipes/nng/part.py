"""A part of a study from the command line: fewer sets, methods or trials than the whole has."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plait.recipes.cut import Cut, run_cut
from plait.recipes.nng.protocol import Protocol
from plait.report import Table


@dataclass(frozen=True, kw_only=True)
class Part(Cut):
    """What to run of a study; what is not given is as in all of it. Parts of one folder go on from each other."""

    sets: tuple[str, ...] | None = None
    """Data sets."""
    methods: tuple[str, ...] | None = None
    """By the names of the tables."""
    trials: int | None = None
    """Random choices of points."""

    def applied(self, protocol: Protocol) -> Protocol:
        """The protocol with these changes."""
        return dataclasses.replace(protocol, **self.changes())


def main(name: str, run: Callable[..., Table], protocol: Protocol, argv: Sequence[str] | None = None) -> int:
    """Run a part of the study `nng-<name>`; the result is the exit code."""

    def part_of(part: Part) -> Table:
        chosen, command = part.applied(protocol), part.command(f"nng.{name}")
        return run(chosen, part.folder(f"nng-{name}"), command=command, data_dir=part.data_dir, seed=part.seed)

    return run_cut(Part, part_of, argv)
