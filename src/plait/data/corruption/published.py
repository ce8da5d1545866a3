"""The folder CIFAR-10-C (or CIFAR-100-C) as it is published: TYPE.npy and labels.npy.

    TYPE.npy      [50000, 32, 32, 3] bytes: the 10,000 test pictures at severity 1, then at severity 2, ...
    labels.npy    [50000], the labels five times over

https://zenodo.org/records/2535967 (CIFAR-10-C) and 3555552 (CIFAR-100-C).
"""

import os
from pathlib import Path

import numpy as np

from plait.data.corruption.corrupting import SEVERITIES
from plait.data.dataset import Pair


class PublishedCorruptions:
    """Corrupted test pictures from a folder of .npy files; they are read when they are asked for."""

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        labels = self.folder / "labels.npy"
        if not labels.is_file():
            raise FileNotFoundError(
                f"{self.folder} holds no labels.npy: give the folder that CIFAR-10-C.tar unpacks to, with its files "
                "brightness.npy, ..., labels.npy"
            )
        self._labels = np.load(labels)
        self.kinds = tuple(sorted(path.stem for path in self.folder.glob("*.npy") if path.stem != "labels"))
        """The types there are."""

    def pair(self, kind: str, severity: int) -> Pair:
        """Pictures in [0, 1] and labels at a severity."""
        if kind not in self.kinds:
            raise ValueError(f"{self.folder} has no {kind}.npy; it has {', '.join(self.kinds) or 'no pictures'}")
        if severity not in SEVERITIES:
            raise ValueError(f"`severity` must be 1 to 5, got {severity!r}")
        pictures = np.load(self.folder / f"{kind}.npy", mmap_mode="r")
        if len(pictures) != len(self._labels) or len(pictures) % len(SEVERITIES):
            raise ValueError(
                f"{self.folder / f'{kind}.npy'} has {len(pictures)} pictures and labels.npy {len(self._labels)} "
                "labels: five severities of as many each are expected"
            )
        size = len(pictures) // len(SEVERITIES)
        part = slice((severity - 1) * size, severity * size)
        return Pair(
            np.asarray(pictures[part]).astype(np.float32) / np.float32(255), self._labels[part].astype(np.int32)
        )
