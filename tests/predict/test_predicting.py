"""Predictions against closed forms, and against every member taken by hand."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import multivariate_normal

import plait


def members(bnn: plait.BayesianModel, x: Any, key: jax.Array, num_samples: int) -> np.ndarray:
    """The outputs of every weight sample, where all noise is in the weights."""
    weights = jax.random.split(key, 3)[0]
    return np.stack([bnn(jnp.asarray(x), key=jax.random.fold_in(weights, s)) for s in range(num_samples)])


class TestBayesianLinearRegression:
    """y = x W + noise of deviation 1/2, W Gaussian: y is Gaussian, and everything is known."""

    SAMPLES = 2000

    @pytest.fixture
    def pred(self, regression, x, key) -> plait.Predictive:
        return plait.predict(regression, x, key=key, num_samples=self.SAMPLES, keep_samples=True)

    @pytest.fixture
    def covariance(self, regression, x) -> np.ndarray:
        """Of the function values, [N, 2, 2]."""
        weights = regression.posteriors["weight"].covariance().reshape(3, 2, 3, 2)
        return np.einsum("ni,iojp,nj->nop", x, weights, x)

    def test_the_moments_are_the_exact_ones(self, pred, covariance, regression, x):
        variance = np.einsum("noo->no", covariance)
        error = np.sqrt(variance / self.SAMPLES)
        assert (np.abs(pred.mean - x @ regression.posteriors["weight"].mean) < 5 * error).all()
        assert (np.abs(pred.epistemic - variance) < 5 * variance * np.sqrt(2 / self.SAMPLES)).all()
        np.testing.assert_allclose(pred.aleatoric, 0.25, rtol=1e-5)

    def test_the_density_is_the_exact_one(self, pred, covariance, regression, x):
        y = pred.targets[0]
        mean = x @ regression.posteriors["weight"].mean
        exact = [multivariate_normal.logpdf(y[n], mean[n], covariance[n] + 0.25 * np.eye(2)) for n in range(len(x))]
        terms = np.asarray(plait.Gaussian(0.5).log_prob(pred.outputs, y))
        # The delta method for the logarithm of a mean of densities, and its second-order bias.
        relative = np.exp(terms - logsumexp(terms, axis=0) + np.log(self.SAMPLES))
        error = relative.std(axis=0) / np.sqrt(self.SAMPLES)
        assert (np.abs(pred.log_prob(y) - exact) < 5 * error + error**2).all()

    def test_quantiles_are_those_of_targets(self, pred, covariance, regression, x):
        deviation = np.sqrt(np.einsum("noo->no", covariance) + 0.25)
        low, middle = pred.quantiles([0.16, 0.5])
        # The standard error of a sample quantile is sqrt(p (1 - p) / S) / density.
        mean = x @ regression.posteriors["weight"].mean
        assert (np.abs(middle - mean) < 5 * deviation * np.sqrt(0.25 / self.SAMPLES) / 0.399).all()
        assert (np.abs(low - mean + 0.9945 * deviation) < 5 * deviation * np.sqrt(0.134 / self.SAMPLES) / 0.243).all()


def test_streamed_moments_are_those_of_all_members_at_once(regression, x, y, key):
    outputs = members(regression, x, key, 25)
    pred = plait.predict(regression, x, key=key, num_samples=25, y=y)
    np.testing.assert_allclose(pred.mean, outputs.mean(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(pred.epistemic, outputs.var(0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(pred.variance, outputs.var(0) + 0.25, rtol=1e-4)
    np.testing.assert_array_equal(pred.variance, pred.aleatoric + pred.epistemic)
    np.testing.assert_allclose(pred.std, np.sqrt(outputs.var(0) + 0.25), rtol=1e-4)
    terms = np.asarray(plait.Gaussian(0.5).log_prob(outputs, y))
    np.testing.assert_allclose(pred.log_prob(), logsumexp(terms, axis=0) - np.log(25), rtol=1e-4)
    np.testing.assert_allclose(pred.expected_log_prob(), terms.mean(0), rtol=1e-4)


def test_kept_samples_are_the_members(regression, x, key):
    pred = plait.predict(regression, x, key=key, num_samples=7, batch_size=4, keep_samples=True)
    np.testing.assert_allclose(pred.outputs, members(regression, x, key, 7), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(pred.samples, pred.outputs)
    assert pred.targets.shape == (7, 11, 2)
    assert np.abs(pred.targets - pred.outputs).max() > 0.1


def test_classes_are_averaged_as_probabilities(classes, x, labels, key):
    logits = members(classes, x, key, 20)
    pred = plait.predict(classes, x, key=key, num_samples=20)
    mean = softmax(logits, -1).mean(0)
    np.testing.assert_allclose(pred.mean, mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(pred.mean.sum(-1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.exp(pred.log_probs), mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(pred.log_prob(labels), np.log(mean[np.arange(11), labels]), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(pred.labels, mean.argmax(-1))
    np.testing.assert_allclose(pred.confidence, mean.max(-1), rtol=1e-4)
    each = -(softmax(logits, -1) * log_softmax(logits, -1)).sum(-1)
    np.testing.assert_allclose(pred.entropy, -(mean * np.log(mean)).sum(-1), rtol=1e-4)
    np.testing.assert_allclose(pred.expected_entropy, each.mean(0), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(pred.mutual_information + pred.expected_entropy, pred.entropy, rtol=1e-12)
    assert (pred.mutual_information > 1e-3).all()
    # A total variance of indicators is p (1 - p).
    np.testing.assert_allclose(pred.variance, mean * (1 - mean), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("batch_size", [1, 4, 11])
def test_the_batch_size_does_not_matter_where_weights_are_drawn(regression, classes, x, key, batch_size):
    for bnn in (regression, classes):
        first, second = (plait.predict(bnn, x, key=key, num_samples=9, batch_size=size) for size in (batch_size, 1024))
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), first.moments, second.moments)


def test_local_noise_is_independent_between_batches_and_has_the_same_law(network, key):
    x = np.ones((4, 3), np.float32)
    size = 2000
    # All four inputs are equal: two in each batch, at the same places.
    pred = plait.predict(network, x, key=key, num_samples=size, batch_size=2, keep_samples=True)
    values = pred.outputs[..., 0]
    correlation = np.corrcoef(values.T)
    assert (np.abs(correlation[np.triu_indices(4, 1)]) < 5 / np.sqrt(size)).all()
    together = plait.predict(network, x, key=key, num_samples=size)
    error = np.sqrt((pred.epistemic + together.epistemic) / size)
    assert (np.abs(pred.mean - together.mean) < 5 * error).all()


def test_one_key_gives_one_answer_and_more_samples_add_to_fewer(network, x, key):
    few, more, again = (plait.predict(network, x, key=key, num_samples=size, keep_samples=True) for size in (5, 17, 17))
    np.testing.assert_array_equal(more.outputs, again.outputs)
    np.testing.assert_array_equal(few.outputs, more.outputs[:5])
    other = plait.predict(network, x, key=jax.random.key(1), num_samples=5)
    assert np.abs(other.mean - few.mean).max() > 1e-4


def test_mean_weights_are_one_certain_member(classes, x, labels):
    pred = plait.predict(classes, x, key=None, num_samples=50)
    logits = np.asarray(classes(jnp.asarray(x), key=None))
    np.testing.assert_allclose(pred.mean, softmax(logits, -1), rtol=1e-5)
    np.testing.assert_array_equal(pred.epistemic, 0)
    np.testing.assert_allclose(pred.mutual_information, 0, atol=1e-6)
    np.testing.assert_allclose(pred.log_prob(labels), log_softmax(logits, -1)[np.arange(11), labels], rtol=1e-4)
    assert pred.num_samples == 1


@pytest.mark.parametrize("keyed", [True, False])
def test_components_are_members_of_the_mixture(linear, x, labels, key, keyed):
    bnn = linear(key, 4, plait.RankOne(3)).with_likelihood(plait.Categorical())
    used = key if keyed else None
    pred = plait.predict(bnn, x, key=used, num_samples=6, batch_size=4, keep_samples=True, y=labels)
    assert pred.num_samples == (18 if keyed else 3)
    assert pred.outputs.shape == (pred.num_samples, 11, 4)
    np.testing.assert_allclose(pred.mean, softmax(pred.outputs, -1).mean(0), rtol=1e-4, atol=1e-6)
    if not keyed:
        np.testing.assert_allclose(pred.outputs, bnn(jnp.asarray(x), key=None), rtol=1e-5)
    terms = log_softmax(pred.outputs, -1)[:, np.arange(11), labels]
    np.testing.assert_allclose(pred.log_prob(), logsumexp(terms, 0) - np.log(len(terms)), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(pred.expected_log_prob(), terms.mean(0), rtol=1e-4)


def test_quantiles_asked_for_are_those_of_kept_samples(regression, x, key):
    levels = (0.1, 0.5, 0.9)
    asked = plait.predict(regression, x, key=key, num_samples=30, batch_size=4, quantiles=levels)
    kept = plait.predict(regression, x, key=key, num_samples=30, batch_size=4, keep_samples=True)
    np.testing.assert_array_equal(asked.quantiles(levels), kept.quantiles(levels))
    np.testing.assert_array_equal(asked.quantiles([0.9]), kept.quantiles([0.9]))
    expected = np.quantile(kept.targets, levels, axis=0, method="weibull")
    np.testing.assert_allclose(kept.quantiles(levels), expected, rtol=1e-6)
    assert asked.kept_targets is None


def test_one_program_serves_all_batches_and_numbers_of_samples(key, x, labels):
    traced = []

    def apply(weight, x):
        traced.append(x.shape)
        return x @ weight

    bnn = plait.bayesianize(jnp.ones((3, 4)), jnp.asarray(x), apply=apply, key=key).with_likelihood(plait.Categorical())
    plait.predict(bnn, x, key=key, num_samples=3, batch_size=4)
    before = len(traced)
    plait.predict(bnn, x, key=jax.random.key(1), num_samples=40, batch_size=4)
    plait.predict(bnn, np.concatenate([x, x]), key=key, num_samples=7, batch_size=4)
    assert len(traced) == before


def test_inputs_may_be_several_arrays_or_a_tree(key, x):
    weight = jax.random.normal(key, (3, 4))
    options = {"key": key, "num_samples": 5, "batch_size": 4, "likelihood": plait.Categorical()}
    plain = plait.bayesianize(weight, x, apply=lambda w, x: x @ w + x @ w, key=key, estimator="weights")
    pair = plait.bayesianize(weight, x, x, apply=lambda w, x, z: x @ w + z @ w, key=key, estimator="weights")
    tree = plait.bayesianize(
        weight, {"a": x, "b": x}, apply=lambda w, v: v["a"] @ w + v["b"] @ w, key=key, estimator="weights"
    )
    expected = plait.predict(plain, x, **options).mean
    np.testing.assert_allclose(plait.predict(pair, (x, x), **options).mean, expected, rtol=1e-5)
    np.testing.assert_allclose(plait.predict(tree, {"a": x, "b": jnp.asarray(x)}, **options).mean, expected, rtol=1e-5)


def test_a_model_with_state_is_predicted_from_its_outputs(key, x):
    class Net(eqx.Module):
        norm: eqx.nn.BatchNorm
        linear: eqx.nn.Linear

        def __call__(self, x, state):
            x, state = self.norm(x, state, inference=True)
            return self.linear(x), state

    net = Net(eqx.nn.BatchNorm(3, "batch", mode="batch"), eqx.nn.Linear(3, 4, key=key))
    state = eqx.nn.State(net)
    bnn = plait.bayesianize(net, jnp.asarray(x), state, key=key)
    options = {"key": key, "likelihood": plait.Categorical(), "num_samples": 3}
    pred = plait.predict(bnn, (x, state), output=lambda outputs: outputs[0], batch_size=4, **options)
    assert pred.mean.shape == (11, 4)
    with pytest.raises(ValueError, match="pick it from what the model returns"):
        plait.predict(bnn, (x, state), **options)


def test_a_convolutional_model_is_predicted_as_in_a_loop(key):
    # On a CPU the samples are drawn one program run at a time; what comes out is the same rule.
    images = jax.random.normal(key, (5, 2, 6))
    apply = lambda w, x: jax.lax.conv_general_dilated(x, w, (1,), "VALID").sum(-1)  # noqa: E731
    bnn = plait.bayesianize(jax.random.normal(key, (3, 2, 3)), images, apply=apply, estimator="weights", key=key)
    pred = plait.predict(bnn, images, key=key, likelihood=plait.Categorical(), num_samples=4, keep_samples=True)
    np.testing.assert_allclose(pred.outputs, members(bnn, images, key, 4), rtol=1e-4, atol=1e-5)


def test_what_cannot_be_asked_for_is_refused(regression, classes, x, y, labels, key):
    with pytest.raises(ValueError, match="Categorical targets have no quantiles"):
        plait.predict(classes, x, key=key, quantiles=[0.5])
    with pytest.raises(ValueError, match="need a key"):
        plait.predict(regression, x, key=None, quantiles=[0.5])
    with pytest.raises(ValueError, match="between 0 and 1"):
        plait.predict(regression, x, key=key, quantiles=[2.0])
    with pytest.raises(ValueError, match="agree"):
        plait.predict(regression, x, key=key, y=y[:, :1])
    with pytest.raises(ValueError, match="convert the labels"):
        plait.predict(classes, x, key=key, y=labels.astype(np.float32))
    with pytest.raises(ValueError, match="nothing to predict"):
        plait.predict(classes, x[:0], key=key)
    with pytest.raises(ValueError, match="cannot be standardised"):
        plait.predict(regression, x, key=key, likelihood=plait.Poisson(), standardizer=object())
    with pytest.raises(TypeError, match="original_mean"):
        plait.predict(regression, x, key=key, standardizer=object())
    with pytest.raises(TypeError, match="key"):
        plait.predict(regression, x)
