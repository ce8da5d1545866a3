"""What a predictive distribution answers, and what it refuses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import poisson

import plait
from plait.data import Standardizer
from plait.predict import predictive as module


@pytest.fixture
def standardizer() -> Standardizer:
    rng = np.random.default_rng(3)
    return Standardizer.fit(rng.normal(size=(50, 3)), rng.normal(size=(50, 2)) * [2.0, 30.0] + [5.0, -100.0])


def test_log_prob_is_one_number_however_it_is_come_by(regression, x, y, key):
    options = {"key": key, "num_samples": 12, "batch_size": 4}
    given = plait.predict(regression, x, y=y, **options).log_prob()
    np.testing.assert_array_equal(plait.predict(regression, x, y=y, **options).log_prob(y), given)
    again = plait.predict(regression, x, **options).log_prob(y)
    kept = plait.predict(regression, x, keep_samples=True, **options).log_prob(jnp.asarray(y))
    other = plait.predict(regression, x, y=y + 1, **options).log_prob(y)
    for found in (again, kept, other):
        np.testing.assert_allclose(found, given, rtol=1e-4)
    assert given.shape == (11,)


def test_targets_that_were_given_need_no_second_pass(regression, x, y, key, monkeypatch):
    def fail(*args, **kwargs):
        raise AssertionError("drew again")

    pred = plait.predict(regression, x, y=y, key=key, num_samples=3)
    later = plait.predict(regression, x, key=key, num_samples=3)
    monkeypatch.setattr(module, "stream", fail)
    pred.log_prob(y)
    with pytest.raises(AssertionError, match="drew again"):
        later.log_prob(y)


def test_counts_are_scored_by_their_mixture(linear, x, key):
    bnn = linear(key, 2, plait.MeanField(0.3), estimator="weights").with_likelihood(plait.Poisson())
    y = np.arange(22).reshape(11, 2) % 4
    pred = plait.predict(bnn, x, key=key, num_samples=15, keep_samples=True)
    rates = np.exp(pred.outputs.astype(float))
    np.testing.assert_allclose(pred.mean, rates.mean(0), rtol=1e-4)
    np.testing.assert_allclose(pred.variance, rates.mean(0) + rates.var(0), rtol=1e-3)
    expected = np.log(np.exp(poisson.logpmf(y, rates).sum(-1)).mean(0))
    np.testing.assert_allclose(pred.log_prob(y), expected, rtol=1e-4)
    assert (pred.quantiles([0.2, 0.8])[0] <= pred.quantiles([0.2, 0.8])[1]).all()


def test_probabilities_that_underflow_keep_their_log_prob(key):
    bnn = plait.bayesianize(
        jnp.asarray([[300.0, 0.0]]),
        jnp.ones((2, 1)),
        apply=lambda w, x: x @ w,
        posterior=plait.MeanField(1e-3),
        key=key,
    )
    pred = plait.predict(bnn, np.ones((2, 1)), key=key, likelihood=plait.Categorical(), num_samples=20)
    assert pred.mean[0, 1] == 0
    np.testing.assert_allclose(pred.log_prob(np.asarray([1, 0])), [-300, 0], atol=0.1)
    np.testing.assert_allclose(pred.log_probs[0], [0, -300], atol=0.1)
    assert np.isfinite(pred.entropy).all()


@pytest.mark.parametrize("shape", [(), (1,), (3,)], ids=str)
def test_binary_targets_have_two_classes(linear, x, key, shape):
    size = shape[0] if shape else 1
    bnn = linear(key, size, plait.MeanField(1.0), estimator="weights").with_likelihood(plait.Bernoulli())
    output = (lambda outputs: outputs[..., 0]) if not shape else (lambda outputs: outputs)
    y = (np.arange(11 * size).reshape(11, *shape) % 3 == 0).astype(int)
    pred = plait.predict(bnn, x, key=key, num_samples=20, keep_samples=True, output=output)
    assert pred.mean.shape == (11, *shape)
    assert pred.log_probs.shape == (11, *shape, 2)
    np.testing.assert_allclose(np.exp(pred.log_probs[..., 1]), pred.mean, rtol=1e-4)
    np.testing.assert_array_equal(pred.labels, pred.mean > 0.5)
    np.testing.assert_allclose(pred.entropy, pred.expected_entropy + pred.mutual_information, rtol=1e-12)
    terms = np.asarray(plait.Bernoulli().log_prob(pred.outputs, y))
    # Of several targets the mixture is joint: their probabilities alone do not determine it.
    np.testing.assert_allclose(pred.log_prob(y), np.log(np.exp(terms).mean(0)), rtol=1e-4, atol=1e-5)
    fresh = plait.predict(bnn, x, key=key, num_samples=20, output=output)
    np.testing.assert_allclose(fresh.log_prob(y), pred.log_prob(y), rtol=1e-4, atol=1e-5)


def test_a_standardizer_puts_everything_into_the_units_of_the_data(regression, x, y, key, standardizer):
    options = {"key": key, "num_samples": 12, "y": y, "keep_samples": True}
    pred = plait.predict(regression, x, **options)
    real = plait.predict(regression, x, standardizer=standardizer, **options)
    mean, scale = standardizer.y_mean, standardizer.y_scale
    # The two are programs of their own: equal up to rounding in single precision.
    np.testing.assert_allclose(real.mean, pred.mean * scale + mean, rtol=1e-5)
    np.testing.assert_allclose(real.std, pred.std * scale, rtol=1e-5)
    for name in ("aleatoric", "epistemic", "variance"):
        np.testing.assert_allclose(getattr(real, name), getattr(pred, name) * scale**2, rtol=1e-5)
    np.testing.assert_allclose(real.samples, pred.samples * scale + mean, rtol=1e-5)
    np.testing.assert_allclose(real.targets, pred.targets * scale + mean)
    np.testing.assert_allclose(real.quantiles([0.3]), pred.quantiles([0.3]) * scale + mean)
    # A density in other units.
    np.testing.assert_allclose(real.log_prob(), pred.log_prob() - np.log(scale).sum())
    np.testing.assert_allclose(real.log_prob(y), real.log_prob())
    np.testing.assert_allclose(real.expected_log_prob(), pred.expected_log_prob() - np.log(scale).sum())
    np.testing.assert_array_equal(real.pit, pred.pit)


def test_labels_have_no_scale(classes, x, key):
    inputs_only = Standardizer.fit(np.asarray(x, float))
    options = {"key": key, "num_samples": 3}
    np.testing.assert_array_equal(
        plait.predict(classes, x, standardizer=inputs_only, **options).mean, plait.predict(classes, x, **options).mean
    )


def test_the_probability_integral_transform_is_the_rank_among_draws(regression, x, y, key):
    pred = plait.predict(regression, x, y=y, key=key, num_samples=30, batch_size=4)
    draws = plait.predict(regression, x, key=key, num_samples=30, batch_size=4, keep_samples=True).targets
    np.testing.assert_allclose(pred.pit, ((draws < y).sum(0) + 0.5) / 31, rtol=1e-5)


def test_it_says_what_it_is(classes, x, key):
    pred = plait.predict(classes, x, key=key, num_samples=3)
    assert repr(pred) == "<Predictive: 11 examples, 3 samples, Categorical>"
    assert len(pred) == 11


def test_what_was_not_kept_or_does_not_exist_is_refused(regression, classes, x, y, labels, key):
    pred = plait.predict(regression, x, key=key, num_samples=3)
    for name in ("outputs", "samples", "targets"):
        with pytest.raises(ValueError, match=r"not kept.*keep_samples=True"):
            getattr(pred, name)
    with pytest.raises(ValueError, match=r"`quantiles=\[0.25\]`"):
        pred.quantiles([0.25])
    with pytest.raises(ValueError, match="between 0 and 1"):
        pred.quantiles([])
    for name in ("entropy", "expected_entropy", "mutual_information", "labels", "confidence", "log_probs"):
        with pytest.raises(ValueError, match="Gaussian targets are not classes"):
            getattr(pred, name)
    with pytest.raises(ValueError, match="no targets"):
        pred.log_prob()
    with pytest.raises(ValueError, match="no targets"):
        pred.expected_log_prob()
    with pytest.raises(ValueError, match="probability integral transform"):
        _ = pred.pit
    with pytest.raises(ValueError, match="agree"):
        pred.log_prob(y[:5])
    of_classes = plait.predict(classes, x, key=key, num_samples=3, keep_samples=True)
    assert of_classes.samples.shape == (3, 11, 4)
    with pytest.raises(ValueError, match="Categorical has no targets"):
        _ = of_classes.targets
    with pytest.raises(ValueError, match="Categorical has no quantiles"):
        of_classes.quantiles([0.5])
    with pytest.raises(ValueError, match=r"label of 0\.\.3"):
        of_classes.log_prob(labels + 9)
    without_key = plait.predict(regression, x, key=None, keep_samples=True)
    with pytest.raises(ValueError, match="`key=None`"):
        _ = without_key.targets
    assert jax.tree.leaves(without_key.outputs)[0].shape == (1, 11, 2)
