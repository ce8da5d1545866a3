"""The idx format of MNIST: two zero bytes, a type byte, the number of axes, big-endian sizes, then the entries."""

import gzip
import math
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plait.data.dataset import Pair
from plait.data.parts import Parts, Reading

UNSIGNED_BYTE = 0x08
FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def read_idx(path: Path) -> np.ndarray:
    """The array in one idx file of bytes, gzipped or not."""
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] != UNSIGNED_BYTE:
        raise ValueError("not an idx file of unsigned bytes")
    axes = raw[3]
    header = 4 + 4 * axes
    shape = struct.unpack(f">{axes}I", raw[4:header])
    if len(raw) - header != math.prod(shape):
        raise ValueError(
            f"an idx file of shape {shape} needs {math.prod(shape)} bytes, this one has {len(raw) - header}"
        )
    return np.frombuffer(raw, np.uint8, offset=header).reshape(shape)


def read(paths: Sequence[Path], reading: Reading) -> Parts:
    """The four files of MNIST or Fashion-MNIST."""
    del reading
    x_train, y_train, x_test, y_test = (read_idx(path) for path in paths)
    return Parts(Pair(x_train, y_train), Pair(x_test, y_test))
