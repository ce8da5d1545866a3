"""Several protocols as one study by name, for `plait reproduce` and, with changes, by itself."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plait.recipes.cut import Cut, reproduce_command, run_cut
from plait.recipes.sparse.methods import PosteriorName, SparsityName
from plait.recipes.sparse.page import comparison_table, write_page
from plait.recipes.sparse.study import Chapter, run_study
from plait.report import Table


@dataclass(frozen=True)
class Experiment:
    """What a module offers."""

    name: str
    """As `plait reproduce` knows it."""
    module: str
    """In `plait.recipes.sparse`."""
    title: str
    chapters: tuple[Chapter, ...]
    small: tuple[Chapter, ...]

    def reproduce(self, output: Path, *, data_dir: str | None = None, seed: int = 0, quick: bool = False) -> Table:
        """The whole study, or a small one."""
        command = reproduce_command(self.name, quick=quick, seed=seed)
        chapters = self.small if quick else self.chapters
        return self._run(chapters, chapters, output, command, data_dir, seed)

    def cut_short(self, cut: "Changes") -> Table:
        """The study with less of it."""
        chapters, command = cut.applied(self.chapters), cut.command(f"sparse.{self.module}")
        return self._run(chapters, self.chapters, cut.folder(self.name), command, cut.data_dir, cut.seed)

    def _run(
        self,
        chapters: Sequence[Chapter],
        whole: Sequence[Chapter],
        output: Path,
        command: str,
        data_dir: str | None,
        seed: int,
    ) -> Table:
        results = run_study(chapters, output, data_dir=data_dir, seed=seed)
        write_page(output, self.name, self.title, whole, results, command)
        return comparison_table(results)


@dataclass(frozen=True, kw_only=True)
class Changes(Cut):
    """What to change in a study; what is not given is as it is."""

    only: tuple[str, ...] | None = None
    """Networks, by the names of their folders."""
    posteriors: tuple[PosteriorName, ...] | None = None
    """Which posteriors."""
    sparsities: tuple[SparsityName, ...] | None = None
    """Which priors."""
    epochs: int | None = None
    """Of training; the schedules are squeezed with it."""
    steps: int | None = None
    """Where training ends, with the schedules of all epochs."""
    learning_rate: float | None = None
    """Where Adam starts."""
    init_scale: float | None = None
    """Initial standard deviation."""
    annealing: float | None = None
    """The part of training in which the KL weight grows."""
    fine_tune: int | None = None
    """Epochs after zeroing."""
    num_samples: int | None = None
    """Weight samples in evaluations."""

    def applied(self, chapters: Sequence[Chapter]) -> tuple[Chapter, ...]:
        """The chapters with these changes."""
        names = [chapter.protocol.name for chapter in chapters]
        unknown = set(self.only or ()) - set(names)
        if unknown:
            raise ValueError(f"`only`: unknown networks {', '.join(sorted(unknown))}; known are {', '.join(names)}")
        changes = {name: value for name, value in self.changes().items() if name != "only"}
        return tuple(
            dataclasses.replace(chapter, protocol=dataclasses.replace(chapter.protocol, **changes))
            for chapter in chapters
            if self.only is None or chapter.protocol.name in self.only
        )


def main(experiment: Experiment, argv: Sequence[str] | None = None) -> int:
    """The study with changes, from the command line; the result is the exit code."""
    return run_cut(Changes, experiment.cut_short, argv)
