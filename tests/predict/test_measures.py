"""The metrics of predictions against scikit-learn."""

import jax
import numpy as np
import pytest
from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, root_mean_squared_error

import plait
from plait import metrics
from plait.data import Standardizer
from plait.predict.measures import measures, reliability

OPTIONS = {"num_bins": 15, "levels": (0.5, 0.9), "num_resamples": 20}


def test_classes_are_measured_as_scikit_learn_does(classes, x, labels, key):
    pred = plait.predict(classes, x, key=key, num_samples=10, y=labels)
    found = measures(pred, **OPTIONS)
    probs = np.exp(pred.log_probs.astype(float))
    probs /= probs.sum(1, keepdims=True)
    assert list(found) == ["nll", "gibbs_nll", "accuracy", "brier", "ece"]
    assert found["nll"].value == pytest.approx(log_loss(labels, probs, labels=range(4)), rel=1e-4)
    assert found["accuracy"].value == pytest.approx(accuracy_score(labels, probs.argmax(1)))
    assert found["brier"].value == pytest.approx(brier_score_loss(labels, probs, labels=range(4)), rel=1e-4)
    assert found["ece"].value == pytest.approx(metrics.expected_calibration_error(probs, labels, 15), rel=1e-4)
    assert found["gibbs_nll"].value > found["nll"].value
    terms = -pred.log_prob()
    assert found["nll"].standard_error == pytest.approx(terms.std(ddof=1) / np.sqrt(11), rel=1e-4)
    np.testing.assert_array_equal(reliability(pred, 15).count, metrics.reliability_curve(probs, labels, 15).count)


@pytest.mark.parametrize("outputs", [1, 3])
def test_an_example_with_several_binary_targets_counts_once(linear, x, key, outputs):
    bnn = linear(key, outputs, plait.MeanField(1.0)).with_likelihood(plait.Bernoulli())
    y = (np.arange(11 * outputs).reshape(11, outputs) % 3 == 0).astype(int)
    pred = plait.predict(bnn, x, key=key, num_samples=10, y=y)
    found = measures(pred, **OPTIONS)
    correct = ((pred.mean > 0.5) == y).mean(1)
    assert found["accuracy"].value == pytest.approx(accuracy_score(y.reshape(-1), pred.mean.reshape(-1) > 0.5))
    assert found["accuracy"].standard_error == pytest.approx(correct.std(ddof=1) / np.sqrt(11))
    expected = brier_score_loss(y.reshape(-1), pred.mean.reshape(-1))
    assert found["brier"].value == pytest.approx(expected, rel=1e-4)


def test_regressions_are_measured_in_the_units_of_the_data(regression, x, y, key):
    scaler = Standardizer.fit(np.asarray(x, float), np.random.default_rng(0).normal(size=(9, 2)) * 7 + 3)
    pred = plait.predict(regression, x, key=key, num_samples=40, y=y)
    real = plait.predict(regression, x, key=key, num_samples=40, y=y, standardizer=scaler)
    assert list(measures(pred, **OPTIONS)) == ["nll", "gibbs_nll", "rmse", "coverage_50", "coverage_90"]
    targets = scaler.original_mean(y)
    pooled = root_mean_squared_error(targets.reshape(-1), real.mean.reshape(-1))
    assert measures(real, **OPTIONS)["rmse"].value == pytest.approx(pooled)
    inside = np.abs(pred.pit - 0.5) <= 0.45
    for one in (pred, real):
        assert measures(one, **OPTIONS)["coverage_90"].value == pytest.approx(inside.mean())


def test_targets_drawn_from_the_model_are_covered_as_often_as_they_should_be(linear, key, seed):
    rng = np.random.default_rng(seed)
    size = 4000
    x = rng.normal(size=(size, 3)).astype(np.float32)
    bnn = linear(key, 1, plait.MeanField(0.5)).with_likelihood(plait.Gaussian(0.5))
    # Local noise: every example has a function of its own.
    y = plait.predict(bnn, x, key=key, num_samples=1, keep_samples=True).targets[0]
    pred = plait.predict(bnn, x, key=jax.random.fold_in(key, 1), num_samples=99, y=y)
    found = measures(pred, **OPTIONS)
    for level in (0.5, 0.9):
        error = np.sqrt(level * (1 - level) / size)
        assert found[f"coverage_{100 * level:g}"].value == pytest.approx(level, abs=5 * error)


def test_without_a_key_there_is_no_coverage(regression, x, y):
    assert "coverage_90" not in measures(plait.predict(regression, x, key=None, y=y), **OPTIONS)


def test_counts_have_an_error_and_no_calibration(linear, x, key):
    bnn = linear(key, 2, plait.MeanField(0.3)).with_likelihood(plait.Poisson())
    pred = plait.predict(bnn, x, key=key, num_samples=5, y=np.ones((11, 2), int))
    assert list(measures(pred, **OPTIONS)) == ["nll", "gibbs_nll", "rmse"]
    assert reliability(pred, 15) is None
