"""Reading the arrays in pickled files of others without running what they contain.

CIFAR's python batches and Keras's `imdb.npz` are pickles. A pickle may call any function; this reader admits the few
that rebuild numpy arrays and refuses the rest.
"""

import pickle
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

ALLOWED = {
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("_codecs", "encode"),
}


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str) -> Any:
        # Old files name numpy's modules by their old names.
        module_name = module_name.replace("numpy.core.", "numpy._core.")
        if (module_name, global_name) not in ALLOWED:
            raise pickle.UnpicklingError(f"the file wants to run {module_name}.{global_name}: not an array, refused")
        return super().find_class(module_name, global_name)


def load_arrays(file: IO[bytes]) -> Any:
    """A pickle made of containers, numbers, strings and numpy arrays; Python 2's strings come as bytes."""
    return _ArraysOnly(file, encoding="bytes").load()


def object_array(archive: Path, key: str) -> np.ndarray:
    """An array of an npz file that holds Python lists, which `np.load` gives only with every pickle allowed."""
    with zipfile.ZipFile(archive) as members, members.open(f"{key}.npy") as file:
        version = np.lib.format.read_magic(file)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read_header(file)
        if not dtype.hasobject:
            raise ValueError(f"{archive}: {key!r} is no array of lists but of {dtype}")
        return np.asarray(load_arrays(file), dtype=object).reshape(shape)
