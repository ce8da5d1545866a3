"""Log-probabilities of classes by hand."""

import jax.numpy as jnp
import numpy as np
from scipy.special import expit, log_softmax

from plait.likelihood import Bernoulli, Categorical, Gaussian
from plait.objective.class_log_probs import class_log_probs, pick_class


def test_they_are_the_log_softmax_or_both_log_sigmoids(seed):
    logits = np.random.default_rng(seed).normal(size=(4, 3)).astype(np.float32)
    np.testing.assert_allclose(class_log_probs(Categorical(), logits), log_softmax(logits, -1), rtol=1e-5)
    both = np.stack([np.log(expit(-logits)), np.log(expit(logits))], axis=-1)
    np.testing.assert_allclose(class_log_probs(Bernoulli(), logits), both, rtol=1e-5)
    assert class_log_probs(Gaussian(), logits) is None


def test_probabilities_that_underflow_keep_their_logarithm():
    np.testing.assert_allclose(class_log_probs(Categorical(), jnp.asarray([500.0, 0.0])), [0, -500])
    np.testing.assert_allclose(class_log_probs(Bernoulli(), jnp.asarray(500.0)), [-500, 0])


def test_picking_the_label_is_the_log_prob(seed):
    rng = np.random.default_rng(seed)
    logits, labels = rng.normal(size=(5, 4, 3)).astype(np.float32), rng.integers(0, 3, (5, 4))
    picked = pick_class(class_log_probs(Categorical(), logits), labels)
    np.testing.assert_allclose(picked, Categorical().log_prob(logits, labels), rtol=1e-5)
    bits = rng.integers(0, 2, logits.shape).astype(bool)
    picked = pick_class(class_log_probs(Bernoulli(), logits), bits)
    np.testing.assert_allclose(picked, Bernoulli().log_prob(logits, bits), rtol=1e-5)
