"""Standardising against scikit-learn, and its inverse."""

import json

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.preprocessing import StandardScaler

from plait.data import Standardizer


@pytest.fixture
def table(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(5, 3, (40, 4)), rng.normal(-2, 7, (40, 1))


def test_equals_scikit_learn(table):
    x, y = table
    scaler = Standardizer.fit(x, y)
    np.testing.assert_allclose(scaler.inputs(x), StandardScaler().fit_transform(x), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(scaler.targets(y), StandardScaler().fit_transform(y), rtol=1e-5, atol=1e-6)
    assert scaler.inputs(x).dtype == np.float32


def test_constant_columns_become_zero(table):
    x, _ = table
    x[:, 2] = 0.998
    scaled = Standardizer.fit(x).inputs(x)
    assert np.isfinite(scaled).all()
    np.testing.assert_allclose(scaled[:, 2], 0, atol=1e-6)


def test_predictions_come_back_in_the_units_of_the_data(table):
    x, y = table
    scaler = Standardizer.fit(x, y)
    np.testing.assert_allclose(scaler.original_mean(scaler.targets(y)), y, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(scaler.original_std(np.ones((3, 1))), np.full((3, 1), y.std()))
    scaled = scaler.targets(y).astype(float)
    density = norm.logpdf(scaled, 0.1, 0.4) - scaler.log_scale
    mean, std = scaler.original_mean(np.asarray([[0.1]])), scaler.original_std(np.asarray([[0.4]]))
    np.testing.assert_allclose(norm.logpdf(y, mean, std), density, rtol=1e-4, atol=1e-4)


def test_large_offsets_keep_their_digits():
    # Seconds since 1970 differ in the tenth digit: single precision would make them all alike.
    x = 1.7e9 + np.arange(5.0)[:, None]
    np.testing.assert_allclose(Standardizer.fit(x).inputs(x)[:, 0], (np.arange(5) - 2) / np.sqrt(2), rtol=1e-6)


def test_goes_through_json(table):
    x, y = table
    for scaler in (Standardizer.fit(x, y), Standardizer.fit(x)):
        again = Standardizer.from_dict(json.loads(json.dumps(scaler.to_dict())))
        np.testing.assert_array_equal(again.inputs(x), scaler.inputs(x))
    with pytest.raises(ValueError, match="x_scale"):
        Standardizer.from_dict({"x_mean": [1.0]})


def test_wrong_use_is_refused(table):
    x, y = table
    with pytest.raises(ValueError, match="inputs only"):
        Standardizer.fit(x).original_mean(y)
    with pytest.raises(ValueError, match="do not fit"):
        Standardizer.fit(x).inputs(x[:, :2])
    with pytest.raises(ValueError, match="at least one"):
        Standardizer.fit(x[:0])
