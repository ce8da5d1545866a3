"""Looks at held-out data against the same numbers computed by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait
from plait.fit.plan import Plan
from plait.fit.validation import Validation, validate
from plait.metrics import log_mean_exp

SAMPLES, SIZE = 3, 16


def look(bnn, data, likelihood, key):
    plan = Plan(dataset_size=100, batch_size=8, num_examples=40, steps_per_epoch=5, total_steps=5)
    examples = len(data[1])
    return validate(Validation(data, key, examples, SIZE, SAMPLES, lambda y: y, plan), bnn.with_likelihood(likelihood))


def outputs_by_hand(bnn, x, key):
    """In batches of 16, the last filled up with its last example."""
    batches = []
    for batch in range(-(-len(x) // SIZE)):
        rows = np.minimum(np.arange(batch * SIZE, (batch + 1) * SIZE), len(x) - 1)
        keys = jax.random.split(jax.random.fold_in(key, batch), SAMPLES)
        batches.append(jnp.stack([bnn(x[rows], key=k) for k in keys]))
    return jnp.concatenate(batches, axis=1)[:, : len(x)]


def test_regression(problem, key):
    x, y = (jnp.asarray(part) for part in problem.data)
    found = look(problem.bnn, (x, y), problem.noise, key)
    outputs = outputs_by_hand(problem.bnn, x, key)
    terms = np.asarray(problem.noise.log_prob(outputs, y), np.float64)
    expected = {
        "nll": -log_mean_exp(terms).mean(),
        "negative_elbo": -terms.mean() + float(problem.bnn.kl()) / 100,
        "rmse": np.sqrt(np.mean((np.asarray(outputs).mean(0) - np.asarray(y)) ** 2)),
    }
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5)


def test_classes(key):
    x = jax.random.normal(key, (20, 3))
    y = jnp.arange(20, dtype=jnp.int32) % 4
    weights = jax.random.normal(key, (3, 4))
    bnn = plait.bayesianize(weights, x, apply=lambda w, x: x @ w, posterior=plait.MeanField(0.3), key=key)
    found = look(bnn, (x, y), plait.Categorical(), key)
    probs = jax.nn.softmax(outputs_by_hand(bnn, x, key)).mean(0)
    np.testing.assert_allclose(found["accuracy"], np.mean(np.argmax(probs, -1) == y), rtol=1e-6)
    np.testing.assert_allclose(found["nll"], -np.log(np.asarray(probs)[np.arange(20), y]).mean(), rtol=1e-5)


def test_two_classes_with_one_logit_and_components(key):
    x = jax.random.normal(key, (20, 3))
    y = (x[:, :1] > 0).astype(jnp.float32)
    bnn = plait.bayesianize(
        jnp.ones((3, 1)), x, apply=lambda w, x: x @ w, posterior=plait.RankOne(2, random_sign_init=1.0), key=key
    )
    found = look(bnn, (x, y), plait.Bernoulli(), key)
    keys = [jax.random.split(jax.random.fold_in(key, batch), SAMPLES) for batch in (0, 1)]
    rows = [np.arange(16), np.minimum(np.arange(16, 32), 19)]
    outputs = [jnp.stack([bnn(x[r], key=k) for k in ks]) for r, ks in zip(rows, keys, strict=True)]
    logits = jnp.concatenate(outputs, axis=2)[:, :, :20]
    probs = np.asarray(jax.nn.sigmoid(logits), np.float64).mean((0, 1))
    np.testing.assert_allclose(found["accuracy"], np.mean((probs > 0.5) == (np.asarray(y) > 0.5)), rtol=1e-6)
    np.testing.assert_allclose(found["nll"], -np.log(np.where(np.asarray(y) == 1, probs, 1 - probs)).mean(), rtol=1e-4)


def test_every_look_has_the_same_noise(problem):
    # A model that does not move looks the same every time.
    fit = problem.fit(optimizer=optax.sgd(0.0), validation=problem.data, eval_every=2, epochs=5)
    seen = fit.history["validation_nll"]
    np.testing.assert_array_equal(np.isnan(seen), [True, False, True, False, False])
    assert len(set(seen[~np.isnan(seen)].tolist())) == 1


def test_it_is_trained_towards_what_is_validated(problem):
    fit = problem.fit(epochs=40, eval_every=20, validation=problem.make_data(30, seed=5), eval_batch_size=7)
    first, last = fit.history["validation_negative_elbo"][[19, 39]]
    assert last < first


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"eval_every": 0}, "`eval_every` must be a positive integer, got 0"),
        ({"eval_samples": 0}, "`eval_samples` must be a positive integer"),
        ({"eval_batch_size": 0}, "`eval_batch_size` must be a positive integer"),
        ({"validation": (np.ones((3, 3), np.float32), np.ones((2, 1), np.float32))}, "`validation`: x and y must have"),
        ({"validation": (np.ones((3, 3), np.float32), np.ones(3, np.float32))}, r"give the targets a last axis"),
    ],
)
def test_looks_that_cannot_be_taken_are_refused(problem, options, says):
    with pytest.raises(ValueError, match=says):
        problem.fit(**({"validation": problem.data} | options))
