"""Gaussian against scipy, with its three kinds of noise."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from plait.likelihood import Gaussian


def test_fixed_scale_equals_scipy(seed):
    rng = np.random.default_rng(seed)
    outputs, y = rng.normal(size=(3, 5, 2)).astype(np.float32), rng.normal(size=(5, 2)).astype(np.float32)
    expected = norm.logpdf(y, outputs, 0.3).sum(-1)
    np.testing.assert_allclose(Gaussian(0.3).log_prob(outputs, y), expected, rtol=1e-4)
    np.testing.assert_allclose(Gaussian(0.3).variance(outputs), 0.09, rtol=1e-5)
    assert Gaussian(0.3).num_params == 0
    assert jax.tree.leaves(eqx.filter(Gaussian(0.3), eqx.is_inexact_array)) == []


def test_a_given_array_of_scales_gets_no_gradient():
    slope = jax.grad(lambda s: Gaussian(s).log_prob(jnp.ones((4, 2)), jnp.zeros((4, 2))).sum())(jnp.asarray([0.5, 2.0]))
    np.testing.assert_array_equal(slope, [0.0, 0.0])


@pytest.mark.parametrize("shape", [(), (2,)])
def test_learned_scale_is_trained_to_the_residuals(shape, seed):
    residuals = np.random.default_rng(seed).normal(size=(50, 2)).astype(np.float32) * np.float32(0.4)
    likelihood = Gaussian("learned", initial=0.5, shape=shape, min_scale=1e-4)
    assert likelihood.num_params == max(1, len(shape) * 2)
    np.testing.assert_allclose(likelihood.scale(residuals), 0.5, rtol=1e-5)

    @jax.jit
    def ascend(value):
        slope = eqx.filter_grad(lambda model: model.log_prob(residuals, jnp.zeros((50, 2))).mean())(value)
        return jax.tree.map(lambda p, g: p + 0.1 * g, value, slope)

    for _ in range(200):
        likelihood = ascend(likelihood)
    expected = np.sqrt(np.mean(residuals**2, axis=0 if shape else None))
    np.testing.assert_allclose(likelihood.scale(residuals)[0], np.broadcast_to(expected, 2), rtol=1e-3)


def test_predicted_scale_equals_scipy(seed):
    rng = np.random.default_rng(seed)
    outputs, y = rng.normal(size=(3, 5, 4)).astype(np.float32), rng.normal(size=(5, 2)).astype(np.float32)
    likelihood = Gaussian("predicted")
    expected = norm.logpdf(y, outputs[..., :2], np.exp(outputs[..., 2:])).sum(-1)
    np.testing.assert_allclose(likelihood.log_prob(outputs, y), expected, rtol=1e-4)
    np.testing.assert_array_equal(likelihood.mean(outputs), outputs[..., :2])
    np.testing.assert_allclose(likelihood.variance(outputs), np.exp(2 * outputs[..., 2:]), rtol=1e-4)


def test_the_floor_keeps_a_collapsing_scale_finite():
    outputs = jnp.asarray([[0.5, -200.0]])
    likelihood = Gaussian("predicted", min_scale=0.01)
    value, slope = jax.value_and_grad(lambda z: likelihood.log_prob(z, jnp.zeros((1, 1))).sum())(outputs)
    np.testing.assert_allclose(value, norm.logpdf(0.5, scale=0.01), rtol=1e-4)
    assert bool(jnp.isfinite(slope).all())


def test_samples_have_the_moments(key):
    outputs = jnp.broadcast_to(jnp.asarray([2.0, np.log(0.5)], jnp.float32), (20_000, 2))
    draws = np.asarray(Gaussian("predicted").sample(key, outputs))
    assert draws.shape == (20_000, 1)
    np.testing.assert_allclose(draws.mean(), 2.0, atol=5 * 0.5 / np.sqrt(20_000))
    np.testing.assert_allclose(draws.std(), 0.5, atol=5 * 0.5 / np.sqrt(40_000))


def test_half_precision_outputs_are_scored_in_single_precision():
    assert Gaussian(0.1).log_prob(jnp.zeros(3, jnp.bfloat16), jnp.zeros(3)).dtype == jnp.float32


@pytest.mark.parametrize(
    ("scale", "kwargs"),
    [
        (0.0, {}),
        (float("inf"), {}),
        (-1, {}),
        ("guessed", {}),
        ("learned", {"initial": 0.0}),
        ("learned", {"min_scale": 2.0}),
        ("predicted", {"min_scale": -0.1}),
    ],
)
def test_bad_scales_are_refused(scale, kwargs):
    with pytest.raises(ValueError, match="Gaussian"):
        Gaussian(scale, **kwargs)


@pytest.mark.parametrize(
    ("likelihood", "output_shape", "y_shape", "says"),
    [
        (Gaussian(), (8, 1), (8,), r"y\[:, None\]"),
        (Gaussian(), (8,), (8, 1), r"y\[:, 0\]"),
        (Gaussian(), (8, 2), (8, 3), "agree"),
        (Gaussian(), (), (), "agree"),
        (Gaussian("predicted"), (8, 3), (8, 1), "double the last layer"),
        (Gaussian("predicted"), (8,), (8,), "double the last layer"),
        (Gaussian("predicted"), (8, 2), (8,), r"y\[:, None\]"),
    ],
)
def test_check_says_what_is_needed(likelihood, output_shape, y_shape, says):
    with pytest.raises(ValueError, match=says):
        likelihood.check(output_shape, y_shape, np.float32)


def test_check_accepts_what_fits():
    Gaussian().check((8, 2), (8, 2), np.float64)
    Gaussian("predicted").check((8, 4), (8, 2), np.int32)
    assert Gaussian().num_outputs(2) == 2
    assert Gaussian("predicted").num_outputs(2) == 4
    with pytest.raises(ValueError, match="real numbers"):
        Gaussian().check((8, 2), (8, 2), np.complex64)


def test_targets_that_are_not_finite_are_located():
    with pytest.raises(ValueError, match=r"2 of 3 targets wrong; the first, y\[0\] = nan"):
        Gaussian().check_targets(np.asarray([np.nan, 1.0, np.inf]), (3,))


def test_shapes_that_do_not_belong_together_are_refused():
    with pytest.raises(ValueError, match="sample axes"):
        Gaussian().log_prob(jnp.zeros((4, 1)), jnp.zeros(4))
    with pytest.raises(ValueError, match="predicted"):
        Gaussian("predicted").log_prob(jnp.zeros((4, 3)), jnp.zeros((4, 1)))
    with pytest.raises(ValueError, match="one for each output"):
        Gaussian("learned", shape=(2,)).log_prob(jnp.zeros((4, 3)), jnp.zeros((4, 3)))
