"""Plain npz files with x_train, y_train, x_test and y_test, as Keras has them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plait.data.dataset import Pair
from plait.data.parts import Parts, Reading

KEYS = ("x_train", "y_train", "x_test", "y_test")


def read(paths: Sequence[Path], reading: Reading) -> Parts:
    """The four arrays; labels of shape [N, 1] lose their last axis."""
    del reading
    with np.load(paths[0]) as file:
        x_train, y_train, x_test, y_test = (file[key] for key in KEYS)
    return Parts(Pair(x_train, y_train.reshape(-1)), Pair(x_test, y_test.reshape(-1)))
