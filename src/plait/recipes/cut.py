"""A study cut short, from the command line: `python -m plait.recipes.<study> --epochs 10`.

A study says what may be changed as a `Cut` with fields of its own, and hands it to `run_cut`.
"""

import dataclasses
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from plait.report import Table


@dataclass(frozen=True, kw_only=True)
class Cut:
    """What to change in a study; what is not given is as it is."""

    seed: int = 0
    """Of everything random."""
    output: Path | None = None
    """The folder to write, or to go on in."""
    data_dir: str | None = None
    """A folder with data sets."""

    positional: ClassVar[tuple[str, ...]] = ()
    """Fields that are typed without their name."""
    places: ClassVar[tuple[str, ...]] = ()
    """Fields that say where something is on this machine, which nobody else wants to read."""

    def changes(self) -> dict[str, Any]:
        """What was given, but for seed and places."""
        common = {field.name for field in dataclasses.fields(Cut)}
        fields = [field for field in dataclasses.fields(self) if field.name not in common]
        return {f.name: getattr(self, f.name) for f in fields if getattr(self, f.name) != f.default}

    def folder(self, name: str) -> Path:
        """Where the study of a name goes."""
        return Path("results") / name if self.output is None else self.output

    def command(self, module: str) -> str:
        """As it is typed, but for places."""
        return f"python -m plait.recipes.{module} {self.shown()}".strip()

    def shown(self) -> str:
        """The options alone."""
        given = self.changes() | ({"seed": self.seed} if self.seed else {})
        return " ".join(self._typed(name, value) for name, value in given.items() if name not in self.places)

    def _typed(self, name: str, value: Any) -> str:
        option = name.replace("_", "-")
        if isinstance(value, bool):
            return f"--{option}" if value else f"--no-{option}"
        text = shlex.join(map(str, value if isinstance(value, tuple) else (value,)))
        return text if name in self.positional else f"--{option} {text}"


C = TypeVar("C", bound=Cut)


def run_cut(kind: type[C], run: Callable[[C], Table], argv: Sequence[str] | None = None) -> int:
    """Read the options, run, print the table; the result is the exit code."""
    import tyro

    try:
        table = run(tyro.cli(kind, args=argv))
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(table.text())
    return 0


def reproduce_command(name: str, *, quick: bool, seed: int) -> str:
    """What `plait reproduce` was called with."""
    return f"plait reproduce {name}{' --quick' if quick else ''}{f' --seed {seed}' if seed else ''}"
