"""What must be known of the training data to build the network again and to read further inputs for it."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from plait.data import Dataset, Standardizer
from plait.data.dataset import Task, check_finite
from plait.data.registry import find_entry
from plait.data.user_file import is_user_file


@dataclass(frozen=True, eq=False)
class Facts:
    """Of a data set; the standardizer undoes the scaling, where there was one."""

    name: str
    task: Task
    num_train: int
    input_shape: tuple[int, ...]
    target_size: int
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...]
    vocabulary_size: int | None
    pictures: bool
    """Whether inputs are pixels in [0, 1]."""
    standardizer: Standardizer | None

    @classmethod
    def of(cls, dataset: Dataset, source: str) -> "Facts":
        """Those of a data set that was loaded by its name or from a file."""
        entry = None if is_user_file(source) else find_entry(source)
        return cls(
            dataset.name,
            dataset.task,
            len(dataset.train.x),
            dataset.input_shape,
            dataset.target_size,
            dataset.class_names,
            dataset.feature_names,
            dataset.vocabulary_size,
            entry is not None and entry.pixel_levels is not None and dataset.standardizer is None,
            dataset.standardizer,
        )

    @property
    def target_scale(self) -> Standardizer | None:
        """The standardizer, where it scaled the targets."""
        return None if self.standardizer is None or self.standardizer.y_scale is None else self.standardizer

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        scaler = self.standardizer
        return values | {"standardizer": None if scaler is None else scaler.to_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Facts":
        """What `to_dict` gave, also after a way through JSON."""
        plain: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        if plain["standardizer"] is not None:
            plain["standardizer"] = Standardizer.from_dict(plain["standardizer"])
        return cls(**plain)

    def example_inputs(self) -> np.ndarray:
        """Inputs of the right shape and type, for tracing."""
        return np.zeros((2, *self.input_shape), np.float32 if self.vocabulary_size is None else np.int32)

    def prepare(self, x: np.ndarray, where: str) -> np.ndarray:
        """Inputs in the units of the data as the network takes them, or an error that says what does not fit."""
        check_finite(x, f"{where}: x", self.feature_names)
        size = int(np.prod(self.input_shape))
        if x.ndim == 0 or len(x) == 0:
            raise ValueError(f"{where}: no examples")
        if x.shape[1:] not in (self.input_shape, (size,)):
            raise ValueError(
                f"{where}: inputs have the shape {x.shape[1:]}, but the network takes {self.input_shape}, as in "
                f"{self.name}, which it was trained on"
            )
        x = x.reshape(len(x), *self.input_shape)
        if self.vocabulary_size is not None:
            if x.dtype.kind not in "iu" or x.min() < 0 or x.max() >= self.vocabulary_size:
                raise ValueError(f"{where}: inputs must be word ids in 0..{self.vocabulary_size - 1}")
            return x.astype(np.int32)
        if self.pictures and (x.min() < 0 or x.max() > 1):
            raise ValueError(
                f"{where}: pixels must lie in [0, 1] as they did in training, got {x.min():g} to {x.max():g}; divide "
                "by the largest value a pixel can have"
            )
        return x.astype(np.float32) if self.standardizer is None else self.standardizer.inputs(x)
