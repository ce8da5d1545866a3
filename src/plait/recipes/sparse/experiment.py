"""Several protocols as one study by name, for `plait reproduce` and, with changes, by itself."""

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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
        command = f"plait reproduce {self.name}{' --quick' if quick else ''}{f' --seed {seed}' if seed else ''}"
        chapters = self.small if quick else self.chapters
        return self._run(chapters, chapters, output, command, data_dir, seed)

    def cut_short(self, cut: "Cut") -> Table:
        """The study with less of it."""
        output = Path("results") / self.name if cut.output is None else cut.output
        command = f"python -m plait.recipes.sparse.{self.module} {cut.shown()}".strip()
        return self._run(cut.applied(self.chapters), self.chapters, output, command, cut.data_dir, cut.seed)

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


@dataclass(frozen=True)
class Cut:
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
    seed: int = 0
    """Of everything random."""
    output: Path | None = None
    """The folder to write, or to go on in."""
    data_dir: str | None = None
    """A folder with data sets."""

    def applied(self, chapters: Sequence[Chapter]) -> tuple[Chapter, ...]:
        """The chapters with these changes."""
        names = [chapter.protocol.name for chapter in chapters]
        unknown = set(self.only or ()) - set(names)
        if unknown:
            raise ValueError(f"`only`: unknown networks {', '.join(sorted(unknown))}; known are {', '.join(names)}")
        changes = {name: value for name, value in self._given().items() if name not in ("only", "seed")}
        return tuple(
            dataclasses.replace(chapter, protocol=dataclasses.replace(chapter.protocol, **changes))
            for chapter in chapters
            if self.only is None or chapter.protocol.name in self.only
        )

    def shown(self) -> str:
        """As they are typed, but for places."""
        parts = []
        for name, value in self._given().items():
            values = value if isinstance(value, tuple) else (value,)
            parts.append(f"--{name.replace('_', '-')} {' '.join(map(str, values))}")
        return " ".join(parts)

    def _given(self) -> dict[str, object]:
        fields = [field for field in dataclasses.fields(self) if field.name not in ("output", "data_dir")]
        return {f.name: getattr(self, f.name) for f in fields if getattr(self, f.name) != f.default}


def main(experiment: Experiment, argv: Sequence[str] | None = None) -> int:
    """The study with changes, from the command line; the result is the exit code."""
    import tyro

    try:
        table = experiment.cut_short(tyro.cli(Cut, args=argv))
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    print(table.text())
    return 0
