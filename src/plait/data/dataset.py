"""A dataset: training, validation and test pairs of numpy arrays, and what a model needs to know about them.

Targets have the shape that a network's outputs have: labels [N] for classes; [N, 1] for a regression or for two
classes with one logit; the inputs themselves for a density.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from plait.data.standardizer import Standardizer

Task: TypeAlias = Literal["classification", "binary", "regression", "density"]


class Pair(NamedTuple):
    """Inputs and targets of one part."""

    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True, eq=False)
class Dataset:
    """The parts of a data set."""

    name: str
    task: Task
    train: Pair
    validation: Pair | None
    test: Pair
    num_classes: int | None = None
    class_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    vocabulary_size: int | None = None
    """For sequences of tokens: one more than the largest id."""
    standardizer: Standardizer | None = None
    """What undoes the standardisation, if there was one."""

    def __post_init__(self):
        for part, pair in self.parts().items():
            _check_pair(self, part, pair)

    def parts(self) -> dict[str, Pair]:
        """The parts there are, by name."""
        parts = {"train": self.train, "validation": self.validation, "test": self.test}
        return {name: pair for name, pair in parts.items() if pair is not None}

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return self.train.x.shape[1:]

    @property
    def target_size(self) -> int:
        """The number of classes, or of entries of one target: what `likelihood.num_outputs` asks for."""
        return self.num_classes or math.prod(self.train.y.shape[1:])

    def map_inputs(self, function: Callable[[np.ndarray], np.ndarray]) -> "Dataset":
        """The same data with a function applied to the inputs of each part."""

        def mapped(pair: Pair) -> Pair:
            x = function(pair.x)
            return Pair(x, x if self.task == "density" else pair.y)

        return replace(self, **{name: mapped(pair) for name, pair in self.parts().items()})

    def flattened(self) -> "Dataset":
        """The same data with each input as one row of numbers."""
        return self.map_inputs(lambda x: x.reshape(len(x), -1))

    def in_single_precision(self) -> "Dataset":
        """The same data without double precision, which JAX would drop with a warning."""

        def single(values: np.ndarray) -> np.ndarray:
            return values.astype(np.float32) if values.dtype == np.float64 else values

        def converted(pair: Pair) -> Pair:
            x = single(pair.x)
            return Pair(x, x if pair.y is pair.x else single(pair.y))

        return replace(self, **{name: converted(pair) for name, pair in self.parts().items()})

    def standardized(self) -> "Dataset":
        """Zero mean and unit variance of the training inputs, column by column, and in a regression of the targets."""
        if self.standardizer is not None:
            raise ValueError(f"{self.name} is standardised already")
        if self.task == "density" or self.vocabulary_size is not None:
            raise ValueError(f"{self.name} has no inputs to standardise: they are word ids, or the targets themselves")
        regression = self.task == "regression"
        scaler = Standardizer.fit(self.train.x, self.train.y if regression else None)
        parts = {
            name: Pair(scaler.inputs(pair.x), scaler.targets(pair.y) if regression else pair.y)
            for name, pair in self.parts().items()
        }
        return replace(self, standardizer=scaler, **parts)

    def __str__(self) -> str:
        sizes = ", ".join(f"{len(pair.x):,} {name}" for name, pair in self.parts().items())
        shape = " x ".join(str(size) for size in self.input_shape) or "scalar"
        classes = f", {self.num_classes} classes" if self.num_classes else ""
        return f"{self.name}: {self.task}, {sizes}, inputs {shape}{classes}"


def _check_pair(dataset: Dataset, part: str, pair: Pair) -> None:
    x, y = pair
    where = f"{dataset.name} ({part})"
    if x.ndim == 0 or y.ndim == 0 or len(x) != len(y):
        raise ValueError(f"{where}: x and y must have as many rows as each other, got shapes {x.shape} and {y.shape}")
    if len(x) == 0:
        raise ValueError(f"{where}: no examples; give this part more data")
    if x.shape[1:] != dataset.input_shape:
        raise ValueError(f"{where}: inputs of shape {x.shape[1:]}, but those of train have {dataset.input_shape}")
    check_finite(x, f"{where}: x", dataset.feature_names)
    if y is not x:
        check_finite(y, f"{where}: y")
    if dataset.task == "classification":
        check_labels(y, dataset.num_classes, f"{where}: y")
    elif dataset.task == "binary" and not ((y == 0) | (y == 1)).all():
        raise ValueError(f"{where}: y must be 0 or 1, got values from {y.min()} to {y.max()}")


def check_finite(values: np.ndarray, what: str, columns: tuple[str, ...] = ()) -> None:
    """Refuse NaN and infinite values, and say where the first one is."""
    if values.dtype.kind not in "fiub":
        raise ValueError(f"{what} must hold numbers, got dtype {values.dtype}; encode text as numbers first")
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return
    wrong = ~np.isfinite(values)
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    named = len(first) == 2 and first[1] < len(columns)
    place = f"row {first[0]}, column {columns[first[1]]!r}" if named else f"index {first}"
    raise ValueError(
        f"{what} has {int(wrong.sum())} values that are NaN or infinite, the first at {place}: remove or impute them"
    )


def check_labels(labels: np.ndarray, num_classes: int | None, what: str) -> None:
    """Refuse labels that are not integers in 0..num_classes - 1."""
    if labels.dtype.kind not in "iu" or labels.ndim != 1:
        raise ValueError(f"{what} must be integer labels [N], got {labels.dtype} of shape {labels.shape}")
    if num_classes is None or num_classes < 2:
        raise ValueError(f"{what}: a classification needs at least two classes, got num_classes={num_classes}")
    if labels.min() < 0 or labels.max() >= num_classes:
        raise ValueError(
            f"{what} must be labels in 0..{num_classes - 1}, got values from {labels.min()} to {labels.max()}"
        )
