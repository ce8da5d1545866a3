"""A part of a study from the command line: fewer sets, methods or trials than the whole has."""

import dataclasses
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from plait.recipes.nng.protocol import Protocol
from plait.report import Table


@dataclass(frozen=True)
class Part:
    """What to run of a study; what is not given is as in all of it. Parts of one folder go on from each other."""

    sets: tuple[str, ...] | None = None
    """Data sets."""
    methods: tuple[str, ...] | None = None
    """By the names of the tables."""
    trials: int | None = None
    """Random choices of points."""
    seed: int = 0
    """Of everything random."""
    output: Path | None = None
    """The folder to write, or to go on in."""
    data_dir: str | None = None
    """A folder with data sets."""

    def applied(self, protocol: Protocol) -> Protocol:
        """The protocol with these changes."""
        names = ("sets", "methods", "trials")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return dataclasses.replace(protocol, **given)

    def shown(self) -> str:
        """As it is typed, but for places."""
        parts = []
        for name in ("sets", "methods", "trials", "seed"):
            value = getattr(self, name)
            if value is not None and (name != "seed" or value):
                values = value if isinstance(value, tuple) else (value,)
                parts.append(f"--{name} {' '.join(f'{one!r}' if ' ' in str(one) else str(one) for one in values)}")
        return " ".join(parts)


def main(name: str, run: Callable[..., Table], protocol: Protocol, argv: Sequence[str] | None = None) -> int:
    """Run a part of the study `nng-<name>`; the result is the exit code."""
    import tyro

    part = tyro.cli(Part, args=argv)
    output = Path("results") / f"nng-{name}" if part.output is None else part.output
    command = f"python -m plait.recipes.nng.{name} {part.shown()}".strip()
    try:
        table = run(part.applied(protocol), output, command=command, data_dir=part.data_dir, seed=part.seed)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    print(table.text())
    return 0
