"""`plait compress`."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from plait.checkpoint.compressed_file import OutputAxis, Transform
from plait.cli.command import Command

OF_FILES = ("mean", "scale", "transform", "output_axis", "restore")
OF_RUNS = ("max_rise", "same_rank", "data_dir", "samples")


@dataclass(frozen=True)
class Compress(Command):
    """Tie trained standard deviations: make a k-tied run of a mean-field run, or do the same to a .safetensors file of
    another library. Say how far by one of --rank, --budget and --max-rise. Nothing is overwritten."""

    path: tyro.conf.Positional[Path]
    """The folder of a run whose posterior is mean-field, or a .safetensors file."""
    rank: int | None = None
    """The rank of every matrix of which it saves numbers."""
    budget: float | None = None
    """The smallest ranks that lose so many nats, all weights together: what -ELBO of the data set may rise by."""
    max_rise: float | None = None
    """Runs: the smallest rank with which -ELBO per example rises by no more on the validation data."""
    same_rank: bool = False
    """Runs: one rank for all weights, under --budget."""
    max_rank: int = 8
    """The largest rank to try."""
    output: Path | None = None
    """The folder or file to write; by default beside the given one, with "-compressed" after its name."""
    data_dir: str | None = None
    """Runs: a folder with data sets; by default the one that the run was trained with."""
    samples: int = 100
    """Runs: weight samples of the metrics before and after."""
    mean: str | None = None
    """Files: a regular expression for the whole names of the means, as "(.*)mu_(kernel|weight)"."""
    scale: str | None = None
    """Files: one for the scales, with the same capture groups, as "(.*)rho_(kernel|weight)"."""
    transform: Transform = "softplus"
    """Files: what makes standard deviations of scales; exp where scales are their logarithms."""
    output_axis: OutputAxis | None = None
    """Files: the axis over outputs, first in PyTorch; by default the one that leaves fewer numbers."""
    restore: bool = False
    """Files: undo a compression, so that the library can read the file again."""

    def run(self) -> int:
        is_file = self.path.is_file() or self.path.suffix == ".safetensors"
        self._check_options(OF_RUNS if is_file else OF_FILES, "runs" if is_file else "files")
        if not is_file:
            return self._run_folder()
        return self._restore() if self.restore else self._run_file()

    def _run_folder(self) -> int:
        from plait.cli.table import print_table
        from plait.recipes.compressing import compress_run

        found = compress_run(
            self.path,
            self.output,
            rank=self.rank,
            budget=self.budget,
            max_rise=self.max_rise,
            same_rank=self.same_rank,
            max_rank=self.max_rank,
            data_dir=self.data_dir,
            num_samples=self.samples,
        )
        for table in (found.compression.table(), found.table()):
            print_table(table.columns, table.rows, left=table.left)
            print()
        print(f"KL(tied || mean field): {found.compression.loss:.4g} nats\nrun: {found.folder.path}")
        return 0

    def _run_file(self) -> int:
        from plait.recipes.compressing import compress_tensors

        if self.mean is None or self.scale is None:
            raise ValueError("a file needs `mean` and `scale`, regular expressions that say which tensors are which")
        target, found = compress_tensors(
            self.path,
            self.output,
            mean=self.mean,
            scale=self.scale,
            transform=self.transform,
            rank=self.rank,
            budget=self.budget,
            max_rank=self.max_rank,
            output_axis=self.output_axis,
        )
        print(f"{found}\nwritten: {target}")
        return 0

    def _restore(self) -> int:
        from plait.recipes.compressing import restore_tensors

        self._check_options(("rank", "budget", "mean", "scale"), "compressing")
        print(f"written: {restore_tensors(self.path, self.output)}")
        return 0

    def _check_options(self, names: tuple[str, ...], purpose: str) -> None:
        usual: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(self)}
        for name in names:
            if getattr(self, name) != usual[name]:
                raise ValueError(f"`{name}` is an option for {purpose}, which this is not")
