"""`load`: a name or a path in, a dataset out."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from plait.data.dataset import Dataset, Pair, Task
from plait.data.download import download
from plait.data.locate import search
from plait.data.parts import Parts, Reading, cut_last
from plait.data.registry import find_entry
from plait.data.sets.entry import Entry
from plait.data.user_file import is_user_file, load_file

Pixels: TypeAlias = Literal["unit", "symmetric", "raw"]


def load(
    name: str | os.PathLike[str],
    data_dir: str | os.PathLike[str] | None = None,
    *,
    split: int = 0,
    validation: int | float | None = None,
    standardize: bool = False,
    pixels: Pixels = "unit",
    flatten: bool = False,
    maxlen: int | None = None,
    num_words: int | None = None,
    target: str | None = None,
    features: str | Sequence[str] | None = None,
    task: Task | None = None,
    test: int | float | None = None,
) -> Dataset:
    """A data set by its name, or a user's own .npz or .csv file by its path.

    Files are looked for in `data_dir`, in the folder that PLAIT_DATA names, in ../shared/data and in the user cache;
    otherwise they are downloaded into the cache.

    Args:
        name: One of `plait.data.names()`, or a path that ends in .npz or .csv.
        data_dir: A folder with data.
        split: Which of the fixed splits of a UCI set; for digits, diabetes and own files the seed of the shuffle.
        validation: Examples (or a fraction) to cut off the end of the training part; None for what is usual with the
            set, 0 for none.
        standardize: Scale by the training part to zero mean and unit variance: inputs, and the targets of a regression.
        pixels: "unit" for [0, 1], "symmetric" for [-1, 1], "raw" for bytes.
        flatten: Make each input one row of numbers.
        maxlen: IMDB: words kept of each review, its last; 80 by default.
        num_words: IMDB: size of the vocabulary, 20,000 by default.
        target: Own files: the column, or the array of an npz, to predict.
        features: Own files: the columns to predict from (by default all others), or the array of an npz.
        task: Own files: what kind of target it is, where that should not be inferred.
        test: Own files: test examples, or their fraction; 0.2 by default.
    """
    if isinstance(split, bool) or split < 0:
        raise ValueError(f"`split` counts from 0, got {split!r}")
    if pixels not in ("unit", "symmetric", "raw"):
        raise ValueError(f"`pixels` must be 'unit', 'symmetric' or 'raw', got {pixels!r}")
    scaled = None if pixels == "unit" else pixels
    if is_user_file(name):
        _refuse_options("for sets with a name", name, maxlen=maxlen, num_words=num_words, pixels=scaled)
        dataset = load_file(
            Path(name), target=target, features=features, task=task, test=test, validation=validation, split=split
        )
    else:
        entry = find_entry(str(name))
        _refuse_options("for files of your own", name, target=target, features=features, task=task, test=test)
        if not entry.tokens:
            _refuse_options("for IMDB", name, maxlen=maxlen, num_words=num_words)
        if entry.pixel_levels is None:
            _refuse_options("for pictures in bytes", name, pixels=scaled)
        reading = Reading(
            split,
            Reading.maxlen if maxlen is None else maxlen,
            Reading.num_words if num_words is None else num_words,
        )
        dataset = _load_entry(entry, data_dir, reading, validation, pixels)
    if flatten:
        dataset = dataset.flattened()
    return (dataset.standardized() if standardize else dataset).in_single_precision()


def _refuse_options(purpose: str, name: str | os.PathLike[str], **options: object) -> None:
    given = [f"`{option}`" for option, value in options.items() if value is not None]
    if given:
        raise ValueError(f"{', '.join(given)}: an option {purpose}, not for {name}")


def _load_entry(
    entry: Entry,
    data_dir: str | os.PathLike[str] | None,
    reading: Reading,
    validation: int | float | None,
    pixels: Pixels,
) -> Dataset:
    if entry.splits is not None and reading.split >= entry.splits:
        has = f"the splits 0..{entry.splits - 1}" if entry.splits > 1 else "one split, number 0"
        raise ValueError(f"{entry.name} has {has}, got split={reading.split}")
    parts = _read(entry, data_dir, reading)
    train, held_out = parts.train, parts.validation
    if held_out is None:
        train, held_out = cut_last(train, entry.sizes[1] if validation is None else validation, "validation")
    elif validation is not None:
        raise ValueError(f"{entry.name} has a validation part of its own; leave `validation` out")

    def convert(pair: Pair) -> Pair:
        x = _inputs(entry, pair.x, pixels)
        return Pair(x, x if entry.task == "density" else _targets(entry.task, pair.y))

    return Dataset(
        entry.name,
        entry.task,
        convert(train),
        None if held_out is None else convert(held_out),
        convert(parts.test),
        num_classes=entry.num_classes,
        class_names=parts.class_names or entry.class_names,
        feature_names=parts.feature_names,
        vocabulary_size=reading.num_words if entry.tokens else None,
    )


def _read(entry: Entry, data_dir: str | os.PathLike[str] | None, reading: Reading) -> Parts:
    found = search(entry, data_dir)
    form, paths = found.form, found.paths
    if form is None:
        form, paths = download(entry, found.folders, found.rejected)
    try:
        return form.read(paths, reading)
    except PermissionError:
        raise
    except Exception as error:
        # Whatever a reader trips over, the user needs the file's name and what to do.
        where = ", ".join(str(path) for path in paths)
        raise ValueError(f"{entry.name} cannot be read from {where}: {error}; if damaged, delete it") from error


def _inputs(entry: Entry, x: np.ndarray, pixels: Pixels) -> np.ndarray:
    if entry.tokens or (entry.pixel_levels and pixels == "raw"):
        return x
    if entry.pixel_levels is None:
        # A table keeps its precision until it is standardised: a time in seconds needs more than seven digits.
        return x if x.dtype == np.float64 else x.astype(np.float32)
    unit = x.astype(np.float32) / np.float32(entry.pixel_levels)
    return unit if pixels == "unit" else 2 * unit - 1


def _targets(task: Task, y: np.ndarray) -> np.ndarray:
    return y.astype(np.int32) if task == "classification" else y.astype(np.float64).reshape(len(y), -1)
