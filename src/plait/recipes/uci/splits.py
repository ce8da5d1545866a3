"""A UCI set with its splits side by side, each standardised by its own training part.

All splits of a set have as many training examples as each other, and as many test examples: nothing is cut or filled.
"""

from dataclasses import dataclass

import numpy as np

from plait import data
from plait.data import Pair, Standardizer


@dataclass(frozen=True, eq=False)
class Splits:
    """Arrays lead with splits."""

    name: str
    train: Pair
    test: Pair
    """Standardised, too."""
    standardizers: tuple[Standardizer, ...]

    @classmethod
    def load(cls, name: str, count: int, data_dir: str | None = None) -> "Splits":
        """The first `count` splits."""
        found = [data.load(name, data_dir, split=split, standardize=True) for split in range(count)]
        train = Pair(np.stack([each.train.x for each in found]), np.stack([each.train.y for each in found]))
        test = Pair(np.stack([each.test.x for each in found]), np.stack([each.test.y for each in found]))
        return cls(name, train, test, tuple(each.standardizer for each in found if each.standardizer is not None))

    @property
    def size(self) -> int:
        """Training examples of a split."""
        return self.train.x.shape[1]

    def __len__(self) -> int:
        return len(self.standardizers)

    @property
    def target_std(self) -> float:
        """Of the targets, the mean over splits."""
        return float(np.mean(np.exp([each.log_scale for each in self.standardizers])))
