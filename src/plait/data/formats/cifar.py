"""CIFAR-10 and CIFAR-100 as their authors publish them: tar archives, or what comes out of them.

A record of the binary version is one label byte (CIFAR-100: coarse, then fine), then 3 x 32 x 32 bytes, channels first.
The python version pickles the same rows. Images come out [N, 32, 32, 3].
"""

import io
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plait.data.dataset import Pair
from plait.data.parts import Parts, Reading
from plait.data.unpickle import load_arrays

PIXELS = 3 * 32 * 32


@dataclass(frozen=True)
class Layout:
    """Where the two versions of one of the sets keep things."""

    label_bytes: int
    label_key: bytes
    binary_files: tuple[str, ...]
    """The test file last."""
    python_files: tuple[str, ...]


CIFAR10 = Layout(
    1,
    b"labels",
    tuple(f"cifar-10-batches-bin/{name}.bin" for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch")),
    tuple(f"cifar-10-batches-py/{name}" for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch")),
)
CIFAR100 = Layout(
    2,
    b"fine_labels",
    ("cifar-100-binary/train.bin", "cifar-100-binary/test.bin"),
    ("cifar-100-python/train", "cifar-100-python/test"),
)

Reader = Callable[[Sequence[Path], Reading], Parts]


def binary_reader(layout: Layout) -> Reader:
    """A reader of the binary version: its archive, or its files."""

    def decode(raw: bytes) -> Pair:
        width = layout.label_bytes + PIXELS
        if len(raw) == 0 or len(raw) % width:
            raise ValueError(f"a CIFAR file holds records of {width} bytes, this one has {len(raw)} bytes")
        records = np.frombuffer(raw, np.uint8).reshape(-1, width)
        return Pair(_images(records[:, layout.label_bytes :]), records[:, layout.label_bytes - 1])

    return _reader(layout.binary_files, decode)


def python_reader(layout: Layout) -> Reader:
    """A reader of the python version: its archive, or its files."""

    def decode(raw: bytes) -> Pair:
        batch = load_arrays(io.BytesIO(raw))
        if not (isinstance(batch, dict) and {b"data", layout.label_key} <= set(batch)):
            raise ValueError(f"a CIFAR batch is a dictionary with 'data' and {layout.label_key.decode()!r}")
        return Pair(_images(np.asarray(batch[b"data"], np.uint8)), np.asarray(batch[layout.label_key], np.uint8))

    return _reader(layout.python_files, decode)


def _reader(names: tuple[str, ...], decode: Callable[[bytes], Pair]) -> Reader:
    def read(paths: Sequence[Path], reading: Reading) -> Parts:
        del reading
        raw = _members(paths[0], names) if len(paths) == 1 else [path.read_bytes() for path in paths]
        *train, test = (decode(content) for content in raw)
        return Parts(Pair(*(np.concatenate(arrays) for arrays in zip(*train, strict=True))), test)

    return read


def _members(archive: Path, names: tuple[str, ...]) -> list[bytes]:
    # In the archive's order, once: seeking back in a compressed stream would unpack it again.
    found: dict[str, bytes] = {}
    with tarfile.open(archive) as members:
        for member in members:
            file = members.extractfile(member) if member.name in names else None
            if file is not None:
                found[member.name] = file.read()
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"the archive lacks {', '.join(missing)}")
    return [found[name] for name in names]


def _images(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
