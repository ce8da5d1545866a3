"""Cutting parts off."""

import numpy as np
import pytest

from plait.data import Pair
from plait.data.parts import cut_last, shuffled_split


@pytest.fixture
def rows():
    return Pair(np.arange(10), np.arange(10) * 2)


def test_the_last_examples_are_cut_off(rows):
    rest, last = cut_last(rows, 3, "validation")
    np.testing.assert_array_equal(rest.x, np.arange(7))
    np.testing.assert_array_equal(last.y, [14, 16, 18])
    assert cut_last(rows, 0, "validation") == (rows, None)


def test_a_fraction_keeps_what_the_tuning_script_of_uci_keeps():
    # That script trains on int(0.8 * n) of n training examples.
    for total in (277, 455, 10_741):
        pair = Pair(np.zeros(total), np.zeros(total))
        assert len(cut_last(pair, 0.2, "validation")[0].x) == int(0.8 * total)


@pytest.mark.parametrize("size", [-1, 1.0, 1.5, True, 10, 11])
def test_impossible_sizes_are_refused(rows, size):
    with pytest.raises(ValueError, match="`validation`"):
        cut_last(rows, size, "validation")


def test_the_shuffle_depends_on_the_split_alone(rows):
    train, test = shuffled_split(*rows, test=0.3, split=1)
    again, _ = shuffled_split(*rows, test=0.3, split=1)
    other, _ = shuffled_split(*rows, test=0.3, split=2)
    np.testing.assert_array_equal(train.x, again.x)
    assert not np.array_equal(train.x, other.x)
    np.testing.assert_array_equal(np.sort(np.r_[train.x, test.x]), np.arange(10))
    np.testing.assert_array_equal(train.y, train.x * 2)
    with pytest.raises(ValueError, match="no test examples"):
        shuffled_split(*rows, test=0, split=0)
