"""The data of a run, scaled as it asks, and other data as that run would see it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from plait import data
from plait.data import Dataset, Pair, Standardizer
from plait.data.dataset import check_labels
from plait.data.user_file import is_user_file
from plait.recipes.facts import Facts
from plait.recipes.options import DataOptions

ROTATED = "rotated"
"""A name for a run's own test pictures, turned by a quarter."""


def load_data(options: DataOptions, *, counts: bool = False) -> Dataset:
    """The data set that the options name. Counts keep their own units."""
    wanted: dict[str, Any] = {"split": options.split, "validation": options.validation}
    if is_user_file(options.data):
        wanted |= {"target": options.target, "features": options.features, "task": options.task}
    else:
        for name in ("target", "features", "task"):
            if getattr(options, name) is not None:
                raise ValueError(f"`{name}` is for files of your own, not for {options.data}")
    plain = data.load(options.data, options.data_dir, **wanted)
    if plain.task == "density":
        raise ValueError(f"{plain.name} has no targets to train a network on; `plait datasets` lists those that do")
    is_table = len(plain.input_shape) == 1 and plain.vocabulary_size is None
    if not (is_table if options.standardize is None else options.standardize):
        return plain
    # Read again, since it is scaled in the precision of the file.
    scaled = data.load(options.data, options.data_dir, standardize=True, **wanted)
    return scaled if not counts else _with_own_targets(scaled, plain)


def _with_own_targets(scaled: Dataset, plain: Dataset) -> Dataset:
    scaler, own = scaled.standardizer, plain.parts()
    assert scaler is not None
    parts = {name: Pair(pair.x, own[name].y) for name, pair in scaled.parts().items()}
    return replace(plain, standardizer=Standardizer(scaler.x_mean, scaler.x_scale), **parts)


def load_other(name: str, facts: Facts, options: DataOptions) -> Pair:
    """The test part of another data set, or every example of a file, as a run takes them."""
    found = _load_plain(name, facts, options)
    parts = list(found.parts().values()) if is_user_file(name) else [found.test]
    x = facts.prepare(np.concatenate([pair.x for pair in parts]), name)
    return Pair(x, _as_trained(np.concatenate([pair.y for pair in parts]), found, facts, name))


def _load_plain(name: str, facts: Facts, options: DataOptions) -> Dataset:
    if not is_user_file(name):
        found = data.load(name, options.data_dir)
        if found.task != facts.task:
            raise ValueError(f"{name} is a {found.task}, but the run is of {facts.name}, a {facts.task}")
        return found
    return data.load(name, target=options.target, features=_columns(name, facts), task=facts.task)


def _columns(name: str, facts: Facts) -> tuple[str, ...] | None:
    """Those to read from a file; an npz has no names of columns."""
    return facts.feature_names or None if Path(name).suffix.lower() == ".csv" else None


def _as_trained(y: np.ndarray, found: Dataset, facts: Facts, where: str) -> np.ndarray:
    """Targets with the labels, and in the units, that the run was trained with."""
    if facts.task == "regression":
        size = int(np.prod(y.shape[1:]))
        if size != facts.target_size:
            raise ValueError(f"{where}: targets have {size} entries, the run's have {facts.target_size}")
        scaler = facts.target_scale
        return y if scaler is None else scaler.targets(y)
    if found.class_names == facts.class_names:
        return y
    unknown = [name for name in found.class_names if name not in facts.class_names]
    if unknown:
        raise ValueError(
            f"{where}: the run knows the classes {', '.join(facts.class_names)}, but targets are {', '.join(unknown)}"
        )
    labels = np.asarray([facts.class_names.index(name) for name in found.class_names])[y.astype(np.int32)]
    if facts.task == "classification":
        check_labels(labels, facts.target_size, where)
    return labels.astype(y.dtype)


def load_foreign(name: str, facts: Facts, options: DataOptions, test: Pair) -> np.ndarray:
    """Inputs to tell apart from the run's own."""
    if name == ROTATED:
        if len(facts.input_shape) < 2:
            raise ValueError(f"`out_of_distribution` {ROTATED} turns pictures, and {facts.name} has none")
        return np.rot90(test.x, axes=(1, 2)).copy()
    if is_user_file(name):
        return load_inputs(name, facts)
    return facts.prepare(data.load(name, options.data_dir).test.x, name)


def load_inputs(name: str, facts: Facts) -> np.ndarray:
    """The inputs in a file, by the names of its columns where they have names."""
    x, _ = data.load_inputs(name, features=_columns(name, facts))
    return facts.prepare(x, name)
