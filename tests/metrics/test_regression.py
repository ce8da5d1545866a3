"""Regression metrics against scipy and by hand."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.metrics import root_mean_squared_error

from plait import metrics


def test_rmse_equals_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    mean, y = rng.normal(size=(50, 2)), rng.normal(size=(50, 2))
    pooled = root_mean_squared_error(y.reshape(-1), mean.reshape(-1))
    assert metrics.rmse(mean, y) == pytest.approx(pooled)
    assert metrics.rmse_estimate(mean, y).value == pytest.approx(pooled)
    squares = np.square(mean - y).mean(1)
    expected = squares.std(ddof=1) / np.sqrt(50) / (2 * pooled)
    assert metrics.rmse_estimate(mean, y).standard_error == pytest.approx(expected)


def test_gaussian_log_likelihood_equals_scipy(seed):
    rng = np.random.default_rng(seed)
    mean, y, std = rng.normal(size=(50, 2)), rng.normal(size=(50, 2)), rng.uniform(0.1, 2, size=(50, 2))
    expected = norm.logpdf(y, mean, std).sum(1)
    np.testing.assert_allclose(metrics.gaussian_log_likelihood_terms(mean, std, y), expected)
    assert metrics.gaussian_log_likelihood(mean, 0.5, y) == pytest.approx(norm.logpdf(y, mean, 0.5).sum(1).mean())
    with pytest.raises(ValueError, match="positive"):
        metrics.gaussian_log_likelihood(mean, 0.0, y)


def test_log_mean_exp_equals_scipy_and_does_not_overflow(seed):
    values = np.random.default_rng(seed).normal(size=(20, 5)) + 1000
    np.testing.assert_allclose(metrics.log_mean_exp(values), logsumexp(values, axis=0) - np.log(20))
    np.testing.assert_allclose(metrics.log_mean_exp(values, axis=1), logsumexp(values, axis=1) - np.log(5))
    assert metrics.log_mean_exp([-np.inf, -np.inf]) == -np.inf
    assert metrics.log_mean_exp([-np.inf, 0.0]) == pytest.approx(np.log(0.5))
    with pytest.raises(ValueError, match="at least one sample"):
        metrics.log_mean_exp(np.zeros((0, 3)))


def test_coverage_by_hand():
    y = np.asarray([0.0, 1.0, 2.0, 3.0])
    assert metrics.coverage(np.full(4, 0.5), np.full(4, 3.0), y).value == 0.75
    quantiles = np.stack([np.full(4, -1.0), np.full(4, 1.0), np.full(4, 3.0)])
    np.testing.assert_allclose(metrics.quantile_coverage(quantiles, y), [0, 0.5, 1])


def test_a_calibrated_gaussian_covers_its_levels(seed):
    levels = np.asarray([0.1, 0.5, 0.9])
    y = np.random.default_rng(seed).normal(size=20_000)
    quantiles = np.broadcast_to(norm.ppf(levels)[:, None], (3, 20_000))
    np.testing.assert_allclose(metrics.quantile_coverage(quantiles, y), levels, atol=5 * 0.5 / np.sqrt(20_000))


def test_shapes_that_would_broadcast_are_refused():
    with pytest.raises(ValueError, match="same shape"):
        metrics.rmse(np.zeros((4, 1)), np.zeros(4))
    with pytest.raises(ValueError, match="same shape"):
        metrics.rmse(np.zeros(0), np.zeros(0))
    with pytest.raises(ValueError, match="quantiles"):
        metrics.quantile_coverage(np.zeros((3, 4, 1)), np.zeros(4))
