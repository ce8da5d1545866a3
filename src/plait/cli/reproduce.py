"""`plait reproduce`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from plait.cli.command import Command


@dataclass(frozen=True)
class Reproduce(Command):
    """Repeat an experiment of a paper and show its numbers beside ours; without a name, list what there is."""

    name: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="NAME")] = None
    """The study."""
    output: Path | None = None
    """The folder to write, or to go on in; by default results/NAME."""
    data_dir: str | None = None
    """A folder with data sets."""
    seed: int = 0
    """Of everything random."""
    quick: bool = False
    """A small version of it, to see that it runs."""

    def run(self) -> int:
        from plait.cli.table import print_table
        from plait.recipes.studies import STUDIES, find_study

        if self.name is not None:
            study = find_study(self.name)
            output = Path("results") / self.name if self.output is None else self.output
            table = study.reproduce(output, data_dir=self.data_dir, seed=self.seed, quick=self.quick)
            print_table(table.columns, table.rows, left=table.left)
        elif STUDIES:
            print_table(("name", "what it shows"), [(name, study.title) for name, study in STUDIES.items()], left=2)
        else:
            print("There are no studies in this version.")
        return 0
