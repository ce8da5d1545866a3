"""The study of autoencoders, for `plait reproduce` and, with changes, by itself.

plait reproduce matrix-normal-vae
python -m plait.recipes.vae.experiment --sizes 9 --epochs 60 --annealing 20 --test-images 1000
"""

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class Cut:
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
    seed: int = 0
    """Of everything random."""
    output: Path | None = None
    """The folder to write, or to go on in."""
    data_dir: str | None = None
    """A folder with data sets."""

    def changes(self) -> dict[str, object]:
        """Of the protocol."""
        left_out = ("seed", "output", "data_dir")
        names = [field.name for field in dataclasses.fields(self) if field.name not in left_out]
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def shown(self) -> str:
        """As they are typed, but for places."""
        parts = []
        for name, value in (self.changes() | ({"seed": self.seed} if self.seed else {})).items():
            values = value if isinstance(value, tuple) else (value,)
            parts.append(f"--{name.replace('_', '-')} {' '.join(map(str, values))}")
        return " ".join(parts)


def reproduce(output: Path, *, data_dir: str | None = None, seed: int = 0, quick: bool = False) -> Table:
    """The whole study, or a small one."""
    protocol = SMALL if quick else PROTOCOL
    command = f"plait reproduce {NAME}{' --quick' if quick else ''}{f' --seed {seed}' if seed else ''}"
    return _run(protocol, protocol, output, command, data_dir, seed)


def cut_short(cut: Cut) -> Table:
    """The study with less of it."""
    output = Path("results") / NAME if cut.output is None else cut.output
    command = f"python -m plait.recipes.vae.experiment {cut.shown()}".strip()
    changes: dict = cut.changes()
    return _run(dataclasses.replace(PROTOCOL, **changes), PROTOCOL, output, command, cut.data_dir, cut.seed)


def _run(protocol: Protocol, whole: Protocol, output: Path, command: str, data_dir: str | None, seed: int) -> Table:
    results = run_study(protocol, output, data_dir=data_dir, seed=seed)
    write_page(output, NAME, protocol, whole, results, command)
    return comparison_table(results)


def main(argv: Sequence[str] | None = None) -> int:
    """The study with changes, from the command line; the result is the exit code."""
    import tyro

    try:
        table = cut_short(tyro.cli(Cut, args=argv))
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    print(table.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
