"""`plait evaluate`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from plait.cli.command import Command


@dataclass(frozen=True)
class Evaluate(Command):
    """Score a run: on its own test data, where metrics.json and report.html are written anew, or on other data."""

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """The folder of the run."""
    data: str | None = None
    """Other data with targets: a set's name (its test part) or a .csv or .npz file (all of it). The numbers go to
    metrics-NAME.json."""
    out_of_distribution: str | None = None
    """Inputs to tell apart from the test data by how uncertain the predictions are: a set's name, a .csv or .npz file,
    or "rotated" for the test pictures turned by a quarter."""
    data_dir: str | None = None
    """A folder with data sets; by default the one that the run was trained with."""
    samples: int = 100
    """Weight samples."""
    batch_size: int = 1024
    """Examples in one pass; memory grows with it."""
    by_sample: bool = False
    """Also show standard errors over weight samples."""

    def run(self) -> int:
        from plait.cli.evaluation_output import print_scored
        from plait.recipes.evaluating import evaluate_run

        found = evaluate_run(
            self.folder,
            self.data,
            data_dir=self.data_dir,
            out_of_distribution=self.out_of_distribution,
            num_samples=self.samples,
            batch_size=self.batch_size,
            by_sample=self.by_sample,
        )
        print_scored(found.scored, found.foreign, reliability=True)
        print(f"written: {found.metrics}")
        return 0
