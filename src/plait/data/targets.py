"""What kind of target an array is, and its form: labels [N] for classes, else numbers [N, ...] with a last axis.

Text and the whole numbers 0..K-1 are classes; other numbers are a regression; booleans are binary.
"""

from typing import NamedTuple

import numpy as np

from plait.data.dataset import Task, check_finite


class Encoded(NamedTuple):
    """Targets in the form that a network's outputs have."""

    task: Task
    y: np.ndarray
    class_names: tuple[str, ...] = ()


def encode(targets: np.ndarray, task: Task | None, where: str) -> Encoded:
    """Targets of a task, or of the one that the values suggest."""
    task = task or infer_task(targets)
    if task == "density":
        return Encoded(task, targets)
    if task == "regression":
        check_finite(targets, f"{where}: the target of a regression")
        values = targets.astype(np.float64)
        return Encoded(task, values[:, None] if values.ndim == 1 else values)
    labels, names = _labels(targets, where)
    if task == "classification":
        return Encoded(task, labels, names)
    if len(names) != 2:
        raise ValueError(f"{where}: a binary target has two values, this one has {len(names)}")
    return Encoded(task, labels.astype(np.float32)[:, None], names)


def infer_task(targets: np.ndarray) -> Task:
    """The task that the values suggest."""
    if targets.dtype.kind in "US":
        return "classification"
    if targets.ndim > 1 and targets.shape[1:] != (1,):
        return "regression"
    if targets.dtype.kind == "b":
        return "binary"
    if targets.dtype.kind not in "iu":
        return "regression"
    present = np.unique(targets)
    return "classification" if len(present) > 1 and np.array_equal(present, np.arange(len(present))) else "regression"


def _labels(targets: np.ndarray, where: str) -> tuple[np.ndarray, tuple[str, ...]]:
    flat = targets[:, 0] if targets.shape[1:] == (1,) else targets
    if flat.ndim != 1:
        raise ValueError(f"{where}: class labels have shape [N], got {targets.shape}; if one-hot, save y.argmax(1)")
    values, labels = np.unique(flat, return_inverse=True)
    if flat.dtype.kind not in "US":
        check_finite(flat, f"{where}: the target")
        if (values != np.floor(values)).any():
            raise ValueError(
                f"{where}: class labels are whole numbers or text, got {values[values != np.floor(values)][0]}"
            )
        if values[0] < 0:
            raise ValueError(f"{where}: class labels count from 0, got values from {values[0]} to {values[-1]}")
        values = values.astype(np.int64)
    if len(values) < 2:
        raise ValueError(f"{where}: needs at least two classes, the target is always {values[0]}")
    return labels.astype(np.int32), tuple(str(value) for value in values)
