"""`plait predict`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from plait.cli.command import Command


@dataclass(frozen=True)
class Predict(Command):
    """Predict for the inputs in a file, and write what is expected and how uncertain that is."""

    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """The folder of the run."""
    inputs: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="INPUT")]
    """The inputs: a .csv with the columns of the training data (others are left out), or an .npz with an array x."""
    output: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="OUTPUT")]
    """The .csv or .npz file to write. For classes: predicted, confidence, the probability of each, entropy and mutual
    information in nats. For numbers: mean, std, the variances it is made of, aleatoric (of targets) and epistemic (of
    not knowing the weights), and quantiles."""
    samples: int = 100
    """Weight samples; memory does not grow with them."""
    batch_size: int = 1024
    """Examples in one pass; memory grows with it."""
    quantiles: tuple[float, ...] = (0.05, 0.25, 0.5, 0.75, 0.95)
    """Levels of quantiles, of numbers."""
    overwrite: bool = False
    """Replace the file to write if it exists."""

    def run(self) -> int:
        from plait.recipes.predicting import predict_file

        columns = predict_file(
            self.folder,
            self.inputs,
            self.output,
            num_samples=self.samples,
            batch_size=self.batch_size,
            quantiles=self.quantiles,
            overwrite=self.overwrite,
        )
        rows = len(next(iter(columns.values())))
        print(f"{rows:,} predictions in {self.output}: {', '.join(columns)}")
        return 0
