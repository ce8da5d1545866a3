"""`plait shrink`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from plait.cli.command import Command
from plait.sparsity.rule import Budget, Grain, LogAlpha, Rule, SignalToNoise


@dataclass(frozen=True)
class Shrink(Command):
    """Make the network of a run smaller: weights that are noise become zero, and units that do nothing are cut out. Say
    which by one of --log-alpha, --signal-to-noise and --budget. Writes a run of its own; nothing is overwritten."""

    run_folder: tyro.conf.Positional[Path]
    """The folder of a run. Priors that make weights zero are ard and group-ard."""
    log_alpha: float | None = None
    """Zero is a weight whose log(variance / mean^2) reaches this; by default 3."""
    signal_to_noise: float | None = None
    """Zero is a weight whose |mean| / std does not exceed this."""
    budget: float | None = None
    """Keep this fraction of all weights, rows, channels or columns together."""
    score: Literal["signal_to_noise", "magnitude"] = "signal_to_noise"
    """Under a budget: what those that are kept have most of."""
    of: tuple[Grain, ...] = ("weights",)
    """What the rule looks at; under a budget one of them. What is left must be left in all of them."""
    fine_tune: int = 0
    """Epochs of training afterwards."""
    output: Path | None = None
    """The folder to write; by default beside the given one, with "-shrunk" after its name."""
    data_dir: str | None = None
    """A folder with data sets; by default the one that the run was trained with."""
    samples: int = 100
    """Weight samples of the metrics before and after."""

    def run(self) -> int:
        from plait.cli.table import print_table
        from plait.recipes.shrinking import shrink_run

        found = shrink_run(
            self.run_folder,
            self.output,
            rule=self._rule(),
            fine_tune=self.fine_tune,
            data_dir=self.data_dir,
            num_samples=self.samples,
        )
        print(f"{found.report}\n")
        table = found.table()
        print_table(table.columns, table.rows, left=table.left)
        print(f"\nrun: {found.folder.path}")
        return 0

    def _rule(self) -> Rule:
        given = [name for name in ("log_alpha", "signal_to_noise", "budget") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"say by one rule which weights become zero, got {' and '.join(f'`{n}`' for n in given)}")
        if self.score != "signal_to_noise" and self.budget is None:
            raise ValueError("`score` is an option of a `budget`; the other rules have theirs")
        if self.budget is not None:
            if len(self.of) != 1:
                raise ValueError(f"a `budget` is of one kind; give `of` one name, got {self.of}")
            return Budget(self.budget, self.of[0], self.score)
        if self.signal_to_noise is not None:
            return SignalToNoise(self.signal_to_noise, self.of)
        return LogAlpha(3.0 if self.log_alpha is None else self.log_alpha, self.of)
