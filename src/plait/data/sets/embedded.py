"""The sets that come with scikit-learn: nothing to download. `split` seeds the shuffle."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plait.data.parts import Parts, Reading, shuffled_split
from plait.data.sets.entry import Entry, Form


def read_digits(paths: Sequence[Path], reading: Reading) -> Parts:
    """1,797 handwritten digits of 8 x 8 pixels with 17 grey levels."""
    del paths
    # Here and wherever else the package imports inside a function: what only one of many uses needs must not slow down
    # `import plait`.
    from sklearn.datasets import load_digits

    content: Any = load_digits()
    return Parts(*shuffled_split(content.images.astype(np.uint8), content.target, test=360, split=reading.split))


def read_diabetes(paths: Sequence[Path], reading: Reading) -> Parts:
    """442 patients, ten measurements; the target is the progression of the disease after a year."""
    del paths
    from sklearn.datasets import load_diabetes

    content: Any = load_diabetes(scaled=False)
    train, test = shuffled_split(content.data, content.target, test=88, split=reading.split)
    return Parts(train, test, feature_names=tuple(content.feature_names))


ENTRIES = (
    Entry(
        "digits",
        "handwritten digits, 8 x 8, in scikit-learn",
        "classification",
        sizes=(1257, 180, 360),
        input_shape=(8, 8),
        forms=(Form((), read_digits),),
        num_classes=10,
        class_names=tuple("0123456789"),
        splits=None,
        pixel_levels=16,
    ),
    Entry(
        "diabetes",
        "progression of diabetes, in scikit-learn",
        "regression",
        sizes=(310, 44, 88),
        input_shape=(10,),
        forms=(Form((), read_diabetes),),
        splits=None,
    ),
)
