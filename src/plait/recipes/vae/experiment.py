"""The study of autoencoders, for `plait reproduce` and, with changes, by itself.

plait reproduce matrix-normal-vae
python -m plait.recipes.vae.experiment --sizes 9 --epochs 60 --annealing 20 --test-images 1000
"""

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plait.recipes.cut import Cut, reproduce_command, run_cut
from plait.recipes.vae.latent import Head
from plait.recipes.vae.page import comparison_table, write_page
from plait.recipes.vae.protocol import Protocol
from plait.recipes.vae.study import run_study
from plait.report import Table

NAME = "matrix-normal-vae"
PROTOCOL = Protocol()
SMALL = Protocol(
    "Autoencoders of static MNIST: a small version that shows no more than that it runs",
    sizes=(9,),
    widths=(20,),
    epochs=2,
    annealing=1,
    num_samples=20,
    chunk=10,
    test_images=100,
    train_images=1000,
)


@dataclass(frozen=True, kw_only=True)
class Changes(Cut):
    """What to change in the study; what is not given is as in the paper."""

    sizes: tuple[int, ...] | None = None
    """Numbers of latents."""
    heads: tuple[Head, ...] | None = None
    """Structures of their covariance."""
    epochs: int | None = None
    """At most so many."""
    annealing: int | None = None
    """Epochs in which the KL weight grows."""
    patience: int | None = None
    """Epochs without a better model."""
    learning_rate: float | None = None
    """Of Adam."""
    num_samples: int | None = None
    """Importance samples for each test image."""
    test_images: int | None = None
    """How many are judged."""
    train_images: int | None = None
    """How many are trained on, at most."""


def reproduce(output: Path, *, data_dir: str | None = None, seed: int = 0, quick: bool = False) -> Table:
    """The whole study, or a small one."""
    protocol = SMALL if quick else PROTOCOL
    command = reproduce_command(NAME, quick=quick, seed=seed)
    return _run(protocol, protocol, output, command, data_dir, seed)


def cut_short(cut: Changes) -> Table:
    """The study with less of it."""
    protocol, command = dataclasses.replace(PROTOCOL, **cut.changes()), cut.command("vae.experiment")
    return _run(protocol, PROTOCOL, cut.folder(NAME), command, cut.data_dir, cut.seed)


def _run(protocol: Protocol, whole: Protocol, output: Path, command: str, data_dir: str | None, seed: int) -> Table:
    results = run_study(protocol, output, data_dir=data_dir, seed=seed)
    write_page(output, NAME, protocol, whole, results, command)
    return comparison_table(results)


def main(argv: Sequence[str] | None = None) -> int:
    """The study with changes, from the command line; the result is the exit code."""
    return run_cut(Changes, cut_short, argv)


if __name__ == "__main__":
    sys.exit(main())
