"""Calibration error by hand and against a direct loop."""

import numpy as np
import pytest
from scipy.special import softmax

from plait import metrics


def loop(probs, y, num_bins):
    confidence, correct = probs.max(1), probs.argmax(1) == y
    total = 0.0
    for b in range(num_bins):
        inside = (confidence > b / num_bins) & (confidence <= (b + 1) / num_bins)
        if inside.any():
            total += inside.mean() * abs(correct[inside].mean() - confidence[inside].mean())
    return total


@pytest.mark.parametrize("num_bins", [1, 15])
def test_equals_a_direct_loop(seed, num_bins):
    rng = np.random.default_rng(seed)
    probs, y = softmax(rng.normal(size=(300, 5)), axis=1), rng.integers(0, 5, 300)
    assert metrics.expected_calibration_error(probs, y, num_bins) == pytest.approx(loop(probs, y, num_bins))


def test_by_hand():
    # Two examples of confidence 0.9, one right; two of 0.6, both right: gaps 0.4 and 0.4, in bins of a tenth.
    probs = np.asarray([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.4, 0.6]])
    y = [0, 1, 1, 1]
    assert metrics.expected_calibration_error(probs, y, num_bins=10) == pytest.approx(0.4)
    curve = metrics.reliability_curve(probs, y, num_bins=10)
    assert curve.count.sum() == 4
    np.testing.assert_allclose(curve.accuracy[[5, 8]], [1.0, 0.5])
    np.testing.assert_allclose(curve.confidence[[5, 8]], [0.6, 0.9])
    assert np.isnan(curve.accuracy[0])
    np.testing.assert_allclose(curve.edges, np.linspace(0, 1, 11))


def test_confidences_at_the_ends_have_a_bin():
    assert metrics.expected_calibration_error([[1.0, 0.0]], [0]) == 0
    assert metrics.expected_calibration_error([1.0, 0.0], [1, 0]) == 0


def test_bootstrap_gives_the_spread_over_data_sets(seed):
    rng = np.random.default_rng(seed)

    def draw():
        p = rng.uniform(0.5, 1, 500)
        return p, (rng.uniform(size=500) < p - 0.2).astype(int)

    values = [metrics.expected_calibration_error(*draw()) for _ in range(300)]
    estimate = metrics.expected_calibration_error_estimate(*draw(), seed=0)
    # A bootstrap of 200 resamples knows a spread to about 5 %, 300 data sets to 4 %; the two differ by data, too.
    assert estimate.standard_error == pytest.approx(np.std(values, ddof=1), rel=0.35)
    probs, y = draw()
    again = [metrics.expected_calibration_error_estimate(probs, y, seed=1) for _ in range(2)]
    assert again[0] == again[1]
    assert again[0].value == pytest.approx(metrics.expected_calibration_error(probs, y))


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="num_bins"):
        metrics.expected_calibration_error([[1.0, 0.0]], [0], num_bins=0)
    with pytest.raises(ValueError, match="two resamples"):
        metrics.expected_calibration_error_estimate([[1.0, 0.0]], [0], seed=0, num_resamples=1)
