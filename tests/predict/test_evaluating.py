"""Evaluations against the predictions that they summarise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait


def test_it_measures_what_predict_predicts(classes, x, labels, key):
    pred = plait.predict(classes, x, key=key, num_samples=30)
    found = plait.evaluate(classes, (x, labels), key=key, num_samples=30, batch_size=4, dataset_size=500)
    assert found.nll.value == pytest.approx(-pred.log_prob(labels).mean(), rel=1e-4)
    assert found.accuracy.value == pytest.approx((pred.labels == labels).mean())
    assert found.kl == pytest.approx(float(classes.kl()), rel=1e-5)
    assert found.negative_elbo.value == pytest.approx(found.gibbs_nll.value + found.kl / 500, rel=1e-6)
    assert found.negative_elbo.standard_error == found.gibbs_nll.standard_error
    assert found.reliability.count.sum() == 11
    assert (found.num_examples, found.num_samples, found.over_samples) == (11, 30, {})


def test_the_negative_elbo_is_the_training_loss(network, x, labels, key):
    options = {"likelihood": plait.Categorical(), "dataset_size": 200}
    found = plait.evaluate(network, (x, labels), key=key, num_samples=2000, **options)
    keys = jax.random.split(jax.random.key(1), 500)
    losses = jax.jit(
        jax.vmap(lambda k: plait.elbo(network, (jnp.asarray(x), jnp.asarray(labels)), key=k, **options)[0])
    )(keys)
    # The losses tell the noise of one sample; 2000 of them are in the evaluation.
    error = float(losses.std()) * np.sqrt(1 / 500 + 1 / 2000)
    assert found.negative_elbo.value == pytest.approx(float(losses.mean()), abs=5 * error)


def test_the_error_over_samples_is_the_spread_over_keys(linear, x, labels, y, key):
    bnns = [
        (linear(key, 4, plait.MeanField(1.0), estimator="weights").with_likelihood(plait.Categorical()), labels),
        (linear(key, 2, plait.MeanField(0.5), estimator="weights").with_likelihood(plait.Gaussian(0.5)), y),
    ]
    for bnn, targets in bnns:
        found = [
            plait.evaluate(bnn, (x, targets), key=k, num_samples=50, by_sample=True, dataset_size=20)
            for k in jax.random.split(key, 40)
        ]
        names = ("nll", "gibbs_nll", "negative_elbo", "brier" if bnn.likelihood.task == "classification" else "rmse")
        for name in names:
            spread = np.std([each.metrics[name].value for each in found], ddof=1)
            error = np.sqrt(np.mean([each.over_samples[name] ** 2 for each in found]))
            # 40 values know their spread to 11 %; the mean of 40 squared errors from ten groups to 8 %.
            assert error == pytest.approx(spread, rel=5 * np.hypot(0.11, 0.04)), name


def test_a_regression_has_coverage_and_a_root_mean_square(regression, x, y, key):
    found = plait.evaluate(regression, (x, y), key=key, num_samples=20, levels=(0.8, 0.95), by_sample=True)
    assert list(found.coverage) == [0.8, 0.95]
    assert set(found.over_samples) == set(found.metrics)
    assert found.accuracy is None
    assert found.reliability is None
    assert found.negative_elbo is None


def test_mean_weights_have_neither_elbo_nor_coverage(regression, classes, x, y, labels):
    found = plait.evaluate(regression, (x, y), key=None, dataset_size=10)
    assert (found.negative_elbo, found.coverage, found.num_samples) == (None, {}, 1)
    assert found.nll.value == pytest.approx(found.gibbs_nll.value)
    assert plait.evaluate(classes, (x, labels), key=None).accuracy is not None


def test_a_kl_without_closed_form_is_averaged_over_draws(x, labels, key):
    bnn = plait.bayesianize(
        jnp.ones((3, 4)), jnp.asarray(x), apply=lambda w, x: x @ w, posterior=plait.MeanField(0.5),
        prior=plait.ScaleMixture(), key=key,
    ).with_likelihood(plait.Categorical())  # fmt: skip
    draws = np.asarray(jax.jit(jax.vmap(lambda k: bnn.kl(key=k)))(jax.random.split(key, 2000)))
    found = plait.evaluate(bnn, (x, labels), key=key, num_samples=400, dataset_size=10)
    assert found.kl == pytest.approx(draws.mean(), abs=5 * draws.std() * np.sqrt(1 / 400 + 1 / 2000))
    assert plait.evaluate(bnn, (x, labels), key=None, dataset_size=10).kl is None


def test_components_and_further_inputs_are_evaluated(linear, x, labels, key):
    bnn = linear(key, 4, plait.RankOne(2)).with_likelihood(plait.Categorical())
    found = plait.evaluate(bnn, ((x,), labels), key=key, num_samples=6, by_sample=True, dataset_size=11)
    assert found.num_samples == 12
    assert found.gibbs_nll.value > found.nll.value


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"num_bins": 0}, "`num_bins`"),
        ({"levels": (0.9, 1.5)}, "between 0 and 1"),
        ({"dataset_size": 0}, "`dataset_size`"),
        ({"num_samples": 0}, "`num_samples`"),
        ({"batch_size": -1}, "`batch_size`"),
        ({"by_sample": True, "num_samples": 1}, "at least two"),
        ({"by_sample": True, "key": None}, "needs a key"),
    ],
)
def test_wrong_options_are_refused(classes, x, labels, key, options, says):
    with pytest.raises(ValueError, match=says):
        plait.evaluate(classes, (x, labels), **{"key": key} | options)


def test_wrong_targets_and_no_likelihood_are_refused(classes, x, labels, key):
    with pytest.raises(ValueError, match="one output a class"):
        plait.evaluate(classes, (x, labels[:4]), key=key)
    with pytest.raises(ValueError, match="likelihood"):
        plait.evaluate(classes.with_likelihood(None), (x, labels), key=key)
