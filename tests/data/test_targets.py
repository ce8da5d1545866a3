"""What kind of target values are."""

import numpy as np
import pytest

from plait.data.targets import encode, infer_task


@pytest.mark.parametrize(
    ("targets", "task"),
    [
        (np.asarray(["a", "b"]), "classification"),
        (np.asarray([0, 1, 2, 1]), "classification"),
        (np.asarray([[0], [1]]), "classification"),
        (np.asarray([3, 4, 8]), "regression"),
        (np.asarray([0, 0]), "regression"),
        (np.asarray([0.0, 1.0]), "regression"),
        (np.asarray([True, False]), "binary"),
        (np.zeros((3, 2), int), "regression"),
    ],
)
def test_inferred(targets, task):
    assert infer_task(targets) == task


def test_classes_keep_their_names():
    encoded = encode(np.asarray(["dog", "cat", "dog"]), None, "file")
    assert encoded.y.tolist() == [1, 0, 1]
    assert encoded.class_names == ("cat", "dog")
    encoded = encode(np.asarray([[8.0], [3.0], [8.0]]), "classification", "file")
    assert encoded.y.tolist() == [1, 0, 1]
    assert encoded.class_names == ("3", "8")


def test_numbers_get_a_last_axis():
    assert encode(np.arange(3.0), None, "file").y.shape == (3, 1)
    assert encode(np.zeros((3, 2)), None, "file").y.shape == (3, 2)
    binary = encode(np.asarray([True, False]), None, "file")
    assert (binary.y.shape, binary.task, binary.y.dtype) == ((2, 1), "binary", np.float32)
    assert encode(np.asarray(["n", "y"]), "binary", "file").y.tolist() == [[0.0], [1.0]]
    density = np.zeros((2, 2))
    assert encode(density, "density", "file").y is density


@pytest.mark.parametrize(
    ("targets", "task", "says"),
    [
        ([0.5, 1.0], "classification", "whole numbers or text, got 0.5"),
        ([-1, 1], "classification", "count from 0, got values from -1 to 1"),
        ([np.nan, 1.0], "classification", "NaN"),
        ([2, 2], "classification", "at least two classes"),
        ([[0, 1], [1, 0]], "classification", "one-hot"),
        ([0, 1, 2], "binary", "has two values, this one has 3"),
        (["a", "b"], "regression", "must hold numbers"),
        ([np.nan, 1.0], "regression", "NaN"),
    ],
)
def test_impossible_targets_are_refused(targets, task, says):
    with pytest.raises(ValueError, match=says):
        encode(np.asarray(targets), task, "file")
