"""A user's own data: an npz with arrays, or a csv with a header.

    npz: x and y (or arrays of other names), or x_train, y_train, x_test, y_test (x_validation, y_validation)
    csv: one column is the target, the others are the features

Without parts of its own a file is shuffled and cut: a fifth for testing, a tenth of the rest for validation.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from plait.data.csv_file import Table, read_table
from plait.data.dataset import Dataset, Pair, Task
from plait.data.npz_file import open_npz, read_array
from plait.data.parts import cut_last, shuffled_split
from plait.data.suggest import suggestion
from plait.data.targets import encode

TARGET_NAMES = ("target", "y", "label", "class")
SPLIT_KEYS = ("x_train", "y_train", "x_test", "y_test")
VALIDATION_KEYS = ("x_validation", "y_validation")
DEFAULT_TEST, DEFAULT_VALIDATION = 0.2, 0.1


def is_user_file(name: str | os.PathLike[str]) -> bool:
    """Whether a name is the path of a file."""
    return Path(name).suffix.lower() in (".npz", ".csv")


def load_file(
    path: Path,
    *,
    target: str | None,
    features: str | Sequence[str] | None,
    task: Task | None,
    test: int | float | None,
    validation: int | float | None,
    split: int,
) -> Dataset:
    """The dataset in a file."""
    if task is not None and task not in get_args(Task):
        raise ValueError(f"`task` must be one of {', '.join(get_args(Task))}, got {task!r}")
    check_exists(path)
    names: tuple[str, ...] = ()
    if path.suffix.lower() == ".csv":
        if task == "density":
            raise ValueError(f"{path}: a density is for arrays in an npz, not for the columns of a csv")
        table = read_table(path)
        column = target_column(table, target)
        names = feature_columns(table, features, column)
        arrays = {"x": table.numbers(names), "y": table.target(column)}
    else:
        arrays = _npz_arrays(path, target, features, task)
    parts = _cut(path, arrays, test, validation, split)
    encoded = encode(np.concatenate([pair.y for pair in parts.values()]), task, str(path))
    ends = np.cumsum([len(pair.x) for pair in parts.values()])
    for (part, pair), y in zip(parts.items(), np.split(encoded.y, ends[:-1]), strict=True):
        parts[part] = Pair(pair.x, pair.x if encoded.task == "density" else y)
    return Dataset(
        path.stem,
        encoded.task,
        parts["train"],
        parts.get("validation"),
        parts["test"],
        len(encoded.class_names) if encoded.task == "classification" else None,
        encoded.class_names,
        names,
    )


def _cut(
    path: Path, arrays: dict[str, np.ndarray], test: int | float | None, validation: int | float | None, split: int
) -> dict[str, Pair]:
    held_out = None
    if "x" in arrays:
        size = DEFAULT_TEST if test is None else test
        train, test_part = shuffled_split(arrays["x"], arrays["y"], test=size, split=split)
    else:
        if test is not None or split:
            raise ValueError(f"{path} has test examples of its own; leave `test` and `split` out")
        train, test_part = Pair(arrays["x_train"], arrays["y_train"]), Pair(arrays["x_test"], arrays["y_test"])
        if "x_validation" in arrays:
            held_out = Pair(arrays["x_validation"], arrays["y_validation"])
    if held_out is None:
        train, held_out = cut_last(train, DEFAULT_VALIDATION if validation is None else validation, "validation")
    elif validation is not None:
        raise ValueError(f"{path} has a validation part of its own; leave `validation` out")
    parts = {"train": train, "validation": held_out, "test": test_part}
    return {part: pair for part, pair in parts.items() if pair is not None}


def load_inputs(
    path: str | os.PathLike[str], *, features: str | Sequence[str] | None = None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """(inputs, column names) of a file to predict from; `features` are the columns, or an npz array's name."""
    file = Path(path)
    if not is_user_file(file):
        raise ValueError(f"{file}: inputs are read from .npz and .csv files")
    check_exists(file)
    if file.suffix.lower() == ".csv":
        table = read_table(file)
        names = feature_columns(table, features, None)
        return table.numbers(names), names
    with open_npz(file) as archive:
        return read_array(archive, _array_name(features, "x", file), file), ()


def check_exists(path: Path) -> None:
    """Refuse a path that leads nowhere."""
    if not path.is_file():
        beside = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        raise FileNotFoundError(f"no file {path}{suggestion(path.name, beside)}")


def target_column(table: Table, target: str | None) -> str:
    """The column to predict."""
    if target is not None:
        table.check_column(target)
        return target
    named = [name for name in table.names if name.lower() in TARGET_NAMES]
    if len(named) != 1:
        raise ValueError(f"{table.path}: give `target`, the column to predict; there are {table.listing}")
    return named[0]


def feature_columns(table: Table, features: str | Sequence[str] | None, target: str | None) -> tuple[str, ...]:
    """The columns to predict from, in order."""
    if features is None:
        chosen = tuple(name for name in table.names if name != target)
    else:
        chosen = (features,) if isinstance(features, str) else tuple(features)
    for name in chosen:
        table.check_column(name)
    if not chosen or target in chosen:
        raise ValueError(
            f"{table.path}: `features` must be one or more columns other than the target {target!r}, got {list(chosen)}"
        )
    return chosen


def _npz_arrays(
    path: Path, target: str | None, features: str | Sequence[str] | None, task: Task | None
) -> dict[str, np.ndarray]:
    with open_npz(path) as archive:
        if target is None and features is None and set(SPLIT_KEYS) <= set(archive.files):
            validation = [key for key in VALIDATION_KEYS if key in archive.files]
            if len(validation) == 1:
                raise ValueError(
                    f"{path}: x_validation and y_validation go together, but only {validation[0]} is there"
                )
            return {key: read_array(archive, key, path) for key in (*SPLIT_KEYS, *validation)}
        x = read_array(archive, _array_name(features, "x", path), path)
        y = x if task == "density" else read_array(archive, target or "y", path)
    if x.ndim == 0 or y.ndim == 0 or len(x) != len(y):
        raise ValueError(f"{path}: x and y must have as many rows as each other, got shapes {x.shape} and {y.shape}")
    return {"x": x, "y": y}


def _array_name(features: str | Sequence[str] | None, default: str, path: Path) -> str:
    if features is None or isinstance(features, str):
        return features or default
    raise ValueError(f"{path}: `features` of an npz is the name of one array, got {list(features)}")
