"""What a dataset says of itself, and what it refuses."""

import numpy as np
import pytest

from plait.data import Dataset, Pair


def pair(rows, columns=3, labels=None):
    rng = np.random.default_rng(rows)
    y = rng.normal(size=(rows, 1)) if labels is None else np.asarray(labels)
    return Pair(rng.normal(size=(rows, columns)), y)


@pytest.fixture
def regression():
    return Dataset("table", "regression", pair(8), pair(3), pair(4), feature_names=("a", "b", "c"))


def test_describes_itself(regression):
    assert str(regression) == "table: regression, 8 train, 3 validation, 4 test, inputs 3"
    assert regression.input_shape == (3,)
    assert regression.target_size == 1
    classes = Dataset("d", "classification", pair(2, labels=[0, 2]), None, pair(2, labels=[1, 1]), num_classes=3)
    assert str(classes).endswith("2 train, 2 test, inputs 3, 3 classes")
    assert classes.target_size == 3
    assert list(classes.parts()) == ["train", "test"]


def test_standardised_by_the_training_part(regression):
    scaled = regression.standardized()
    np.testing.assert_allclose(scaled.train.x.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(scaled.train.y.std(), 1, rtol=1e-5)
    expected = (regression.test.x - regression.train.x.mean(0)) / regression.train.x.std(0)
    np.testing.assert_allclose(scaled.test.x, expected, rtol=1e-4)
    np.testing.assert_allclose(scaled.standardizer.original_mean(scaled.test.y), regression.test.y, rtol=1e-5)
    with pytest.raises(ValueError, match="already"):
        scaled.standardized()


def test_labels_are_not_standardised():
    data = Dataset("d", "classification", pair(4, labels=[0, 1, 0, 1]), None, pair(2, labels=[0, 1]), num_classes=2)
    np.testing.assert_array_equal(data.standardized().train.y, data.train.y)


def test_a_density_keeps_its_targets_equal_to_its_inputs():
    x = np.ones((4, 2, 2))
    data = Dataset("d", "density", Pair(x, x), None, Pair(x, x)).flattened().in_single_precision()
    assert data.train.x.shape == (4, 4)
    assert data.train.x is data.train.y
    assert data.train.x.dtype == np.float32
    with pytest.raises(ValueError, match="standardise"):
        data.standardized()


def test_not_a_number_is_located(regression):
    x = regression.test.x.copy()
    x[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"table \(test\): x has 1 values .* row 2, column 'b'"):
        Dataset("table", "regression", pair(8), None, Pair(x, regression.test.y), feature_names=("a", "b", "c"))
    y = np.full((8, 1), np.inf)
    with pytest.raises(ValueError, match=r"\(train\): y has 8 values .* index \(0, 0\)"):
        Dataset("table", "regression", Pair(pair(8).x, y), None, pair(4))


@pytest.mark.parametrize(
    ("train", "says"),
    [
        (Pair(np.zeros((3, 2)), np.zeros((2, 1))), "as many rows"),
        (Pair(np.zeros(()), np.zeros(())), "as many rows"),
        (Pair(np.zeros((0, 3)), np.zeros((0, 1))), "no examples"),
        (pair(5, columns=2), "those of train"),
        (Pair(np.full((3, 3), "a"), np.zeros((3, 1))), "must hold numbers"),
    ],
)
def test_wrong_parts_are_refused(train, says):
    with pytest.raises(ValueError, match=says):
        Dataset("table", "regression", train, None, pair(4))


@pytest.mark.parametrize(
    ("labels", "num_classes", "says"),
    [
        ([0, 3], 3, r"labels in 0\.\.2, got values from 0 to 3"),
        ([-1, 0], 3, r"got values from -1"),
        ([0.0, 1.0], 3, "integer labels"),
        ([[0], [1]], 3, "integer labels"),
        ([0, 0], 1, "at least two classes"),
        ([0, 0], None, "at least two classes"),
    ],
)
def test_wrong_labels_are_refused(labels, num_classes, says):
    part = pair(2, labels=labels)
    with pytest.raises(ValueError, match=says):
        Dataset("d", "classification", part, None, part, num_classes=num_classes)


def test_binary_targets_are_0_or_1():
    with pytest.raises(ValueError, match="0 or 1"):
        Dataset("d", "binary", pair(2, labels=[[0.0], [2.0]]), None, pair(2, labels=[[0.0], [1.0]]))
