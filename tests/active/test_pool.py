import numpy as np
import pytest

from plait.active import Pool


def make_pool():
    pool = Pool(np.arange(12.0).reshape(6, 2))
    pool.add([4, 1], np.asarray([[40.0], [10.0]]))
    return pool


def test_labels_stay_in_the_order_in_which_they_came():
    pool = make_pool()
    assert pool.labelled.tolist() == [4, 1]
    assert pool.unlabelled.tolist() == [0, 2, 3, 5]
    x, y = pool.data
    np.testing.assert_array_equal(x, [[8, 9], [2, 3]])
    np.testing.assert_array_equal(y, [[40], [10]])
    assert repr(pool) == "<Pool: 6 inputs, 2 of them with a label>"
    assert len(pool) == 6


def test_the_best_are_those_without_a_label():
    pool = make_pool()
    scores = np.asarray([0.0, 9, 2, 1, 9, 2])
    assert pool.best(scores).tolist() == [2]
    assert pool.best(scores, 3).tolist() == [2, 5, 3]
    with pytest.raises(ValueError, match="asked for 5 inputs, and 4 are without a label"):
        pool.best(scores, 5)
    with pytest.raises(ValueError, match=r"one for each of the 6 inputs of the pool, got shape \(4,\)"):
        pool.best(scores[:4])
    scores[3] = np.nan
    with pytest.raises(ValueError, match="1 scores are not numbers"):
        pool.best(scores)


def test_scores_may_be_of_any_kind_of_number():
    pool = Pool(np.zeros((4, 1)))
    assert list(pool.best(np.array([0, 1, 2, 3], np.uint8), 2)) == [3, 2]
    assert list(pool.best(np.array([False, True, False, False]))) == [1]


def test_several_inputs_stay_together():
    pool = Pool((np.zeros((3, 2)), np.arange(3)))
    pool.add(np.asarray([2]), np.asarray([1]))
    assert pool.data[0][1].tolist() == [2]
    with pytest.raises(ValueError, match=r"arrays with its 3 examples on the first axis, got \(2,\)"):
        Pool((np.zeros((3, 2)), np.arange(2)))


@pytest.mark.parametrize(
    ("indices", "labels", "message"),
    [
        ([0.5], [[1.0]], r"whole numbers \[n\], got float64 of shape \(1,\)"),
        ([0, 2], [[1.0]], r"2 inputs need as many labels on the first axis, got shape \(1, 1\)"),
        ([6, -1], [[1.0], [1.0]], r"inputs 0..5, got \[6, -1\]"),
        ([1, 2], [[1.0], [1.0]], r"have a label already, or got two: \[1\]"),
        ([2, 2], [[1.0], [1.0]], r"have a label already, or got two: \[2\]"),
        ([2], [1.0], r"labels so far have shape \(1,\) each, got \(\)"),
        ([2], [[np.nan]], "labels must be finite"),
    ],
)
def test_labels_that_cannot_be_are_refused(indices, labels, message):
    pool = make_pool()
    with pytest.raises(ValueError, match=message):
        pool.add(indices, labels)
    assert pool.labelled.tolist() == [4, 1]


def test_a_pool_without_labels_has_no_data():
    with pytest.raises(ValueError, match="no input of the pool has a label yet"):
        _ = Pool(np.zeros((2, 1))).data
