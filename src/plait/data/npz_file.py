"""An npz file of a user's, array by array."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from plait.data.suggest import suggestion


@contextlib.contextmanager
def open_npz(path: Path) -> Iterator[np.lib.npyio.NpzFile]:
    """The file, open."""
    with path.open("rb") as file:
        try:
            archive = np.load(file)
        except Exception as error:
            # Numpy names neither the file nor what is wrong with it: a zip error, a pickle error, an end of file.
            raise ValueError(f"{path} is no readable npz file: {error}") from error
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError(f"{path} is no npz file but a single array; save it with np.savez(path, x=..., y=...)")
        yield archive


def read_array(archive: np.lib.npyio.NpzFile, name: str, path: Path) -> np.ndarray:
    """One array of numbers or text."""
    if name not in archive.files:
        hint = suggestion(name, archive.files)
        raise ValueError(f"{path} has no array {name!r}{hint}; there are {', '.join(archive.files)}")
    try:
        return archive[name]
    except ValueError as error:
        raise ValueError(f"{path}: {name!r} holds Python objects; save it as an array of numbers") from error
