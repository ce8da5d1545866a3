"""Statically binarised MNIST: fixed Bernoulli draws of the pixels, without labels.

Packed in an npz (eight pixels a byte), or as the .amat files: text with one image a line (Larochelle's), or MATLAB
files of the same name (github.com/mingzhang-yin/ARM-gradient).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plait.data.dataset import Pair
from plait.data.parts import Parts, Reading

KEYS = ("train", "valid", "test")
FILES = tuple(f"binarized_mnist_{part}.amat" for part in KEYS)


def read_packed(paths: Sequence[Path], reading: Reading) -> Parts:
    """An npz of packed bits."""
    del reading
    with np.load(paths[0]) as file:
        return _parts([np.unpackbits(file[key], axis=1) for key in KEYS])


def read_amat(paths: Sequence[Path], reading: Reading) -> Parts:
    """The three .amat files."""
    del reading
    return _parts([_read_one(path) for path in paths])


def _read_one(path: Path) -> np.ndarray:
    with path.open("rb") as file:
        if file.read(6) != b"MATLAB":
            return np.loadtxt(path, dtype=np.uint8, ndmin=2)
    import scipy.io

    content = scipy.io.loadmat(path)
    arrays = [value for name, value in content.items() if not name.startswith("_")]
    if len(arrays) != 1:
        raise ValueError(f"needs one array, the file has {len(arrays)}")
    return np.asarray(arrays[0], np.uint8)


def _parts(images: list[np.ndarray]) -> Parts:
    for rows in images:
        if rows.ndim != 2 or rows.shape[1] != 784 or rows.max() > 1:
            raise ValueError(f"binarised images are rows of 784 zeros and ones, got shape {rows.shape}")
    train, validation, test = (Pair(image, image) for image in (rows.reshape(-1, 28, 28) for rows in images))
    return Parts(train, test, validation)
