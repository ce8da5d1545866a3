"""What a reader of files hands on, and how a part is cut off for validation or test."""

from dataclasses import dataclass

import numpy as np

from plait.data.dataset import Pair


@dataclass(frozen=True)
class Reading:
    """Choices that change what is read."""

    split: int = 0
    maxlen: int = 80
    num_words: int = 20_000


@dataclass(frozen=True)
class Parts:
    """Arrays as a file has them: pixels in bytes, labels as integers."""

    train: Pair
    test: Pair
    validation: Pair | None = None
    feature_names: tuple[str, ...] = ()
    class_names: tuple[str, ...] = ()


def cut_last(pair: Pair, size: int | float, what: str) -> tuple[Pair, Pair | None]:
    """(what remains, the last examples); `size` is a number of examples or a fraction, 0 for none."""
    total = len(pair.x)
    if isinstance(size, bool) or size < 0 or (isinstance(size, float) and size >= 1):
        raise ValueError(f"`{what}` must be a number of examples or a fraction below 1, got {size!r}")
    # As in the tuning script of the UCI splits: the first int((1 - f) n) examples remain.
    count = total - int((1 - size) * total) if isinstance(size, float) else size
    if count >= total:
        raise ValueError(f"`{what}`={size} leaves nothing of {total} examples to train on")
    if count == 0:
        return pair, None
    return Pair(pair.x[:-count], pair.y[:-count]), Pair(pair.x[-count:], pair.y[-count:])


def shuffled_split(x: np.ndarray, y: np.ndarray, *, test: int | float, split: int) -> tuple[Pair, Pair]:
    """(train, test) after a permutation that depends on `split` alone."""
    order = np.random.RandomState(split).permutation(len(x))
    train, held_out = cut_last(Pair(x[order], y[order]), test, "test")
    if held_out is None:
        raise ValueError(f"`test`={test} leaves no test examples; give a fraction or a number of them")
    return train, held_out
