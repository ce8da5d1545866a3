"""A picture under every corruption.

python -m plait.recipes.rank1.gallery --write docs/results/rank1/corruptions.png
"""

from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np

from plait import data
from plait.data.corruption import COMMON, corrupt
from plait.report import Picture, image_grid


@dataclass(frozen=True)
class Options:
    """The common corruptions of one test picture."""

    data: str = "mnist"
    """A data set of pictures."""
    index: int = 0
    """Which test picture."""
    severities: tuple[int, ...] = (1, 3, 5)
    """A row each."""
    write: Path = Path("corruptions.png")
    """The file to write."""
    data_dir: str | None = None
    """A folder with data sets."""


def gallery(options: Options) -> Picture:
    """Types from left to right, severities from top to bottom."""
    picture = data.load(options.data, options.data_dir).test.x[options.index : options.index + 1]
    names = [kind.replace("_", "\n") for kind in COMMON]
    rows = {
        f"severity {severity}": (
            np.concatenate([corrupt(picture, kind, severity, key=jax.random.key(0)) for kind in COMMON]),
            names,
        )
        for severity in options.severities
    }
    figure = image_grid(rows, columns=len(COMMON), limits=(0, 1))
    return Picture(figure, "Corruptions", f"Severities {', '.join(map(str, options.severities))}.")


if __name__ == "__main__":
    import tyro

    chosen = tyro.cli(Options, description=__doc__)
    chosen.write.parent.mkdir(parents=True, exist_ok=True)
    gallery(chosen).save(chosen.write)
