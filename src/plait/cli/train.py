"""`plait train`."""

import dataclasses
import sys
from dataclasses import dataclass, field
from pathlib import Path

from plait.cli.command import Command
from plait.recipes.options import DataOptions, ModelOptions, Options, TrainingOptions


@dataclass(frozen=True)
class Train(Command):
    """Train a Bayesian network, and write its weights, its numbers and a report into a folder."""

    data: DataOptions = field(default_factory=DataOptions)
    model: ModelOptions = field(default_factory=ModelOptions)
    training: TrainingOptions = field(default_factory=TrainingOptions)
    output: Path | None = None
    """The folder to write; by default a new one in runs/, named after data and posterior."""
    resume: Path | None = None
    """The folder of a run to go on with, from its last checkpoint and with its own options."""
    quiet: bool = False
    """Show no progress and no table."""

    def run(self) -> int:
        from plait.cli.evaluation_output import print_scored
        from plait.recipes.running import resume, train

        progress = False if self.quiet else None
        if self.resume is None:
            done = train(Options(self.data, self.model, self.training), self.output, progress=progress)
        else:
            self._check_alone()
            done = resume(self.resume, progress=progress)
        folder = done.folder.path
        if done.scored is None:
            print(
                f"plait train: stopped by Ctrl-C after {done.fit.step:,} steps; go on with `plait train --resume "
                f"{folder}`",
                file=sys.stderr,
            )
            return 130
        if not self.quiet:
            print_scored(done.scored, None)
        print(f"report: {done.folder.report}")
        return 0

    def _check_alone(self) -> None:
        if dataclasses.replace(self, resume=None, quiet=False) != Train():
            raise ValueError(
                "`resume` goes on with the options that the run was begun with: leave all others but --quiet out"
            )
