"""Data that cannot be trained on is refused before anything is compiled."""

import jax.numpy as jnp
import numpy as np
import pytest

import plait

X, Y = np.ones((40, 3), np.float32), np.ones((40, 1), np.float32)


def spoiled(array, *index, value=np.nan):
    copy = array.copy()
    copy[index] = value
    return copy


@pytest.mark.parametrize(
    ("data", "error", "says"),
    [
        ((X, Y[:30]), ValueError, r"x and y must have as many examples as each other, got x \(40, 3\), y \(30, 1\)"),
        (((X, X[:4]), Y), ValueError, r"got x \(40, 3\), x \(4, 3\), y \(40, 1\)"),
        ((X[:0], Y[:0]), ValueError, "`data` has no examples"),
        ((spoiled(X, 7, 2), Y), ValueError, r"`data`: x has 1 values that are NaN or infinite, the first at \[7, 2\]"),
        ((X, spoiled(Y, 3, value=np.inf)), ValueError, r"`data`: y has 1 values that are NaN or infinite.*\[3, 0\]"),
        ((X, Y[:, 0]), ValueError, r"give the targets a last axis, `y\[:, None\]`"),
        ((X, Y.astype(complex)), ValueError, "Gaussian needs real numbers as y, got dtype complex"),
        ((X, (Y, Y)), TypeError, "y must be one array, got a tuple of 2"),
        ((X, Y, Y), TypeError, r"`data` must be a pair of arrays `\(x, y\)`, got a tuple of 3"),
        ((X, list(Y[:, 0])), TypeError, r"y must be arrays \[examples, ...\], got an array \(\)"),
        ((X, ()), TypeError, "x and y must both be there"),
        ((np.float32(3), Y), TypeError, r"x must be arrays \[examples, \.\.\.\]"),
    ],
)
def test_data_that_makes_no_sense_is_refused(problem, data, error, says):
    with pytest.raises(error, match=says):
        problem.fit(data=data)


@pytest.mark.parametrize("label", [4, -1])
def test_labels_out_of_range_are_refused(problem, label, key):
    bnn = plait.bayesianize(jnp.ones((3, 4)), X, apply=lambda w, x: x @ w, posterior=plait.MeanField(0.3), key=key)
    labels = np.zeros(40, np.int32)
    good = {"bnn": bnn, "likelihood": plait.Categorical(), "epochs": 1}
    assert problem.fit(data=(X, labels), **good).step == 5
    with pytest.raises(
        ValueError, match=rf"1 of 40 targets wrong; the first, y\[9\] = {label}, is not a label of 0..3"
    ):
        problem.fit(data=(X, spoiled(labels, 9, value=label)), **good)
    with pytest.raises(ValueError, match=r"y\[9\] = "):
        problem.fit(data=(X, labels), validation=(X, spoiled(labels, 9, value=label)), **good)


def test_data_of_replicas_must_have_their_axis(problem):
    data = tuple(np.stack([part] * 3) for part in (X, Y))
    options = {"replicas": 2, "data_per_replica": True}
    with pytest.raises(ValueError, match=r"x must have a first axis over 2 replicas, got \(3, 40, 3\)"):
        problem.fit(data=data, **options)
    with pytest.raises(TypeError, match=r"y must be arrays \[replicas, examples, ...\], got an array \(2,\)"):
        problem.fit(data=(data[0][:2], Y[:2, 0]), **options)
    with pytest.raises(
        ValueError, match="`data_per_replica` says that the data has an axis over replicas: say how many"
    ):
        problem.fit(data=data, data_per_replica=True)
