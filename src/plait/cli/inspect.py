"""`plait inspect`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from plait.cli.command import Command


@dataclass(frozen=True)
class Inspect(Command):
    """Show what a run consists of: each weight, its posterior and prior, and how many numbers and bytes it takes."""

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """The folder of the run."""
    spectrum: bool = False
    """Also show how many directions means and standard deviations have, by their singular values, and write that with
    its pictures into the folder, as spectrum.html, .png and .csv."""

    def run(self) -> int:
        from plait.cli.table import print_table
        from plait.recipes.inspecting import describe_run, weight_table
        from plait.recipes.run_folder import RunFolder
        from plait.recipes.running import load_model

        folder = RunFolder.open(self.folder)
        bnn = load_model(folder)
        table = weight_table(bnn)
        for name, value in describe_run(folder, bnn).items():
            print(f"{name:12}{value}")
        print()
        print_table(table.columns, table.rows, left=table.left)
        if self.spectrum:
            from plait.recipes.spectrum_page import write_spectrum

            page = write_spectrum(folder, bnn)
            table = page.spectra.table()
            print("\nexplained variance of singular values, summed\n")
            print_table(table.columns, table.rows, left=table.left)
            print(f"\nwritten: {', '.join(map(str, page.files))}")
        return 0
