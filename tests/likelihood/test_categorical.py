"""Categorical against scipy and by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import log_softmax

from plait.likelihood import Categorical


def test_log_prob_equals_scipy_with_and_without_sample_axes(seed):
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(4, 7, 3)).astype(np.float32)
    y = rng.integers(0, 3, size=7)
    expected = np.take_along_axis(log_softmax(logits, -1), np.broadcast_to(y[None, :, None], (4, 7, 1)), -1)[..., 0]
    np.testing.assert_allclose(Categorical().log_prob(logits, y), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(Categorical().log_prob(jnp.asarray(logits[0]), y), expected[0], rtol=1e-5, atol=1e-6)


def test_event_axes_are_summed():
    logits = np.random.default_rng(0).normal(size=(5, 2, 4, 3)).astype(np.float32)
    y = np.zeros((2, 4), np.uint8)
    assert Categorical().log_prob(logits, y).shape == (5, 2)
    np.testing.assert_allclose(Categorical().log_prob(logits, y), log_softmax(logits, -1)[..., 0].sum(-1), rtol=1e-5)


def test_large_logits_and_half_precision_stay_finite():
    logits = jnp.asarray([[1e4, 0.0], [0.0, 1e4]], jnp.float32)
    value, slope = jax.value_and_grad(lambda z: Categorical().log_prob(z, jnp.asarray([0, 0])).sum())(logits)
    assert value == -1e4
    assert bool(jnp.isfinite(slope).all())
    half = Categorical().log_prob(logits.astype(jnp.bfloat16), jnp.asarray([0, 0]))
    assert half.dtype == jnp.float32
    assert bool(jnp.isfinite(half).all())


def test_moments_and_entropy():
    probs = np.asarray([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], np.float32)
    with np.errstate(divide="ignore"):
        logits = jnp.asarray(np.log(probs))
    np.testing.assert_allclose(Categorical().mean(logits), probs, atol=1e-6)
    np.testing.assert_allclose(Categorical().variance(logits), probs * (1 - probs), atol=1e-6)
    expected = [-(0.2 * np.log(0.2) + 0.3 * np.log(0.3) + 0.5 * np.log(0.5)), 0.0]
    np.testing.assert_allclose(Categorical().entropy(logits), expected, atol=1e-6)


def test_samples_have_the_predicted_frequencies(key):
    logits = jnp.log(jnp.asarray([[0.2, 0.3, 0.5]]))
    draws = Categorical().sample(key, jnp.broadcast_to(logits, (20_000, 3)))
    frequency = np.bincount(np.asarray(draws), minlength=3) / 20_000
    np.testing.assert_allclose(frequency, [0.2, 0.3, 0.5], atol=5 * np.sqrt(0.25 / 20_000))


def test_sampled_targets_fit_log_prob(key):
    outputs = jnp.zeros((6, 3))
    y = Categorical().sample(key, outputs)
    Categorical().check(outputs.shape, y.shape, y.dtype)
    assert Categorical().log_prob(outputs, y).shape == (6,)


@pytest.mark.parametrize(
    ("output_shape", "y_shape", "dtype", "says"),
    [
        ((8, 3), (8, 3), np.float32, "one-hot"),
        ((8, 3), (8, 1), np.int32, r"y\[:, 0\]"),
        ((8, 3), (7,), np.int32, "one output a class"),
        ((8,), (8,), np.int32, "one output a class"),
        ((8, 3), (), np.int32, "one output a class"),
        ((8, 1), (8,), np.int32, "Bernoulli"),
        ((8, 3), (8,), np.float32, "astype"),
    ],
)
def test_check_says_what_is_needed(output_shape, y_shape, dtype, says):
    with pytest.raises(ValueError, match=says):
        Categorical().check(output_shape, y_shape, dtype)


def test_check_accepts_what_fits():
    Categorical().check((8, 3), (8,), np.uint8)
    Categorical().check_targets(np.arange(3), (3, 3))
    assert Categorical().num_outputs(10) == 10
    assert Categorical().num_params == 0


@pytest.mark.parametrize("bad", [-1, 3])
def test_labels_out_of_range_are_located(bad):
    with pytest.raises(ValueError, match=rf"y\[1\] = {bad}, is not a label of 0..2"):
        Categorical().check_targets(np.asarray([0, bad, 2]), (3, 3))


def test_shapes_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="sample axes"):
        Categorical().log_prob(np.zeros((4, 3), np.float32), np.zeros(5, int))
