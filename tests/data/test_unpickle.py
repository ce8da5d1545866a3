"""Pickles give arrays and run nothing."""

import io
import os
import pickle

import numpy as np
import pytest

from plait.data.unpickle import load_arrays, object_array


@pytest.mark.parametrize("protocol", [2, 5])
def test_arrays_come_back(protocol):
    content = {b"data": np.arange(6, dtype=np.uint8).reshape(2, 3), b"labels": [1, 2], b"one": np.float64(0.5)}
    again = load_arrays(io.BytesIO(pickle.dumps(content, protocol=protocol)))
    np.testing.assert_array_equal(again[b"data"], content[b"data"])
    assert again[b"labels"] == [1, 2]
    assert again[b"one"] == 0.5


def test_the_old_names_of_numpy_are_understood():
    old = pickle.dumps(np.arange(3), protocol=2).replace(b"numpy._core", b"numpy.core")
    np.testing.assert_array_equal(load_arrays(io.BytesIO(old)), np.arange(3))


def test_a_pickle_that_would_run_something_is_refused():
    class Bomb:
        def __reduce__(self):
            return os.mkdir, ("run",)

    with pytest.raises(pickle.UnpicklingError, match=r"refused"):
        load_arrays(io.BytesIO(pickle.dumps(Bomb())))
    assert not os.path.exists("run")


def test_lists_in_an_npz(tmp_path):
    lists = np.empty(2, object)
    lists[:] = [[1, 2, 3], [4]]
    np.savez(tmp_path / "a.npz", x=lists, y=np.arange(2))
    assert object_array(tmp_path / "a.npz", "x").tolist() == [[1, 2, 3], [4]]
    with pytest.raises(ValueError, match="no array of lists"):
        object_array(tmp_path / "a.npz", "y")
