"""A trained model as one safetensors file: its arrays by name, and a header that says what they belong to.

The file holds values, not code: `load` puts them into a model that was built as the saved one was, and refuses another.
"""

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from plait.checkpoint.arrays import arrays_of, differences, key_kinds, kinds_of, numbers_of, shorten, with_arrays
from plait.checkpoint.likelihood_entry import describe, rebuild
from plait.checkpoint.tensors_file import DTYPES, Tensor, read_tensors, write_tensors
from plait.model import BayesianModel

FORMAT = "plait model 1"


def save(path: str | os.PathLike[str], bnn: BayesianModel) -> None:
    """Write a model to a file, whole or not at all; a file that was there before is replaced."""
    arrays = {name: np.asarray(array) for name, array in arrays_of(bnn).items()}
    known = {np.dtype(dtype) for dtype in DTYPES.values()}
    unknown = {name: array.dtype.name for name, array in arrays.items() if array.dtype not in known}
    if unknown:
        raise TypeError(f"arrays of these dtypes cannot be saved, cast them first: {unknown}")
    header = {
        "format": FORMAT,
        "plait": version("plait"),
        "weights": json.dumps({row.path: _describe_weight(row) for row in bnn.sites}),
        "numbers": json.dumps(numbers_of(bnn)),
        "keys": json.dumps(key_kinds(bnn)),
        "likelihood": json.dumps(describe(bnn.likelihood)),
    }
    write_tensors(Path(path), header, {name: Tensor.of(array) for name, array in arrays.items()})


def load(path: str | os.PathLike[str], *, like: BayesianModel) -> BayesianModel:
    """The model in a file. `like` is one with the same weights, posteriors and priors; its values do not matter.

    The likelihood it was saved with comes back, where it is one of Plait's own; one of yours must be in `like`.
    """
    header, arrays = _read(Path(path))
    entry, numbers = json.loads(header["likelihood"]), json.loads(header["numbers"])
    weights = {row.path: _describe_weight(row) for row in like.sites}
    wrong = differences(json.loads(header["weights"]), weights)
    if not wrong:
        if like.likelihood is None and entry is not None:
            like = like.with_likelihood(rebuild(entry, arrays, numbers))
        if entry is not None:
            wrong += differences({"likelihood": entry}, {"likelihood": describe(like.likelihood)})
        wrong += differences(kinds_of(arrays), kinds_of(arrays_of(like)))
        wrong += differences(numbers, numbers_of(like))
        wrong += differences(json.loads(header["keys"]), key_kinds(like))
    if wrong:
        raise ValueError(f"{path} holds a model that was built in another way than `like`:{shorten(wrong)}")
    return with_arrays(like, arrays)


def _describe_weight(row: Any) -> str:
    return f"{list(row.shape)} {row.posterior}, prior {row.prior or 'none'}"


def _read(path: Path) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    header, tensors = read_tensors(path)
    if header.get("format") != FORMAT:
        raise ValueError(
            f"{path} was not written by `plait.save`, or by another version of it: its format is "
            f"{header.get('format', 'not given')!r}, expected {FORMAT!r}"
        )
    return header, {name: tensor.array() for name, tensor in tensors.items()}
