"""Moments against Monte Carlo, updates against their definitions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from plait.recipes.uci import pbp

DRAWS = 100_000


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def test_moments_of_a_rectified_gaussian():
    mean, variance = jnp.asarray([-40.0, -2.0, 0.0, 1.5]), jnp.asarray([1.0, 0.5, 2.0, 0.3])
    first, second = pbp.rectified_moments(mean, variance)
    for m, v, found, spread in zip(mean, variance, first, second, strict=True):
        gaussian = stats.norm(m, np.sqrt(v))
        moments = [integrate.quad(lambda a, k, g: a**k * g.pdf(a), 0, 15, (k, gaussian))[0] for k in (1, 2)]
        np.testing.assert_allclose(found, moments[0], rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(spread, moments[1] - moments[0] ** 2, rtol=1e-6, atol=1e-12)


def test_moments_of_a_network_are_those_of_draws(key: jax.Array):
    # With one hidden unit the assumption of independent pre-activations holds.
    belief = pbp.start((2, 1, 1), key)
    x = jnp.asarray([0.7, -0.3])

    def draw(key: jax.Array) -> jax.Array:
        keys, value = jax.random.split(key, 2), x
        for i, (m, v) in enumerate(zip(belief.means, belief.variances, strict=True)):
            value = jax.nn.relu(value) if i else value
            weight = m + jnp.sqrt(v) * jax.random.normal(keys[i], m.shape)
            value = weight @ jnp.append(value, 1.0) / (value.size + 1) ** 0.5
        return value[0]

    draws = jax.vmap(draw)(jax.random.split(key, DRAWS))
    mean, variance = pbp.output_moments(belief.means, belief.variances, x)
    np.testing.assert_allclose(mean, draws.mean(), atol=5 * draws.std() / DRAWS**0.5)
    error = jnp.std(jnp.square(draws - mean)) / DRAWS**0.5
    np.testing.assert_allclose(variance, draws.var(), atol=5 * error)


def test_a_linear_model_is_filtered_exactly(key: jax.Array):
    # One layer and a known noise: means and variances given one example are Gaussian conditionals.
    belief = pbp.start((2, 1), key)._replace(noise=pbp.Gamma(jnp.asarray(1e8), jnp.asarray(0.5e8)))
    x, y = jnp.asarray([1.0, -2.0]), jnp.asarray(0.8)
    row = jnp.append(x, 1.0) / 3**0.5
    m, v = belief.means[0][0], belief.variances[0][0]
    gain = v * row / (row @ (v * row) + 0.5)
    found = pbp.filter_example(belief, (x, y))
    np.testing.assert_allclose(found.means[0][0], m + gain * (y - row @ m), rtol=1e-6)
    np.testing.assert_allclose(found.variances[0][0], v - gain * row * v, rtol=1e-6)


def test_the_gamma_of_the_noise_matches_moments():
    # Moments 1 and 2 of the tilted Gamma, for a likelihood that depends on tau through the printed evidences.
    gamma = pbp.Gamma(jnp.asarray(6.0), jnp.asarray(6.0))
    logs = pbp.log_evidences(jnp.asarray(1.3), jnp.asarray(0.2), gamma)
    found = pbp.matched(gamma, logs)
    first = jnp.exp(logs[1] - logs[0]) * 6 / 6
    second = jnp.exp(logs[2] - logs[0]) * 6 * 7 / 36
    np.testing.assert_allclose(found.shape / found.rate, first, rtol=1e-10)
    np.testing.assert_allclose(found.shape * (found.shape + 1) / found.rate**2, second, rtol=1e-10)


def test_an_update_that_leaves_no_variance_is_not_made(key: jax.Array):
    belief = pbp.start((1, 2, 1), key)
    bad = pbp.filter_example(belief, (jnp.asarray([jnp.nan]), jnp.asarray(0.0)))
    for old, new in zip(jax.tree.leaves(belief), jax.tree.leaves(bad), strict=True):
        np.testing.assert_array_equal(old, new)


def test_the_prior_is_refined_to_the_spread_of_the_weights(key: jax.Array):
    belief = pbp.start((9, 40, 1), key)
    sharp = belief._replace(variances=[jnp.full_like(v, 1e-4) for v in belief.variances])
    refined = pbp.refine_prior(pbp.refine_prior(sharp))
    # Means start as N(0, 1 / 10) and N(0, 1 / 41).
    spread = np.mean(np.square(np.concatenate([m.reshape(-1) for m in sharp.means])))
    assert refined.prior.rate / refined.prior.shape == pytest.approx(spread, rel=0.4)


def test_it_learns_a_line(key: jax.Array):
    x = np.linspace(-1.5, 1.5, 40).reshape(1, 40, 1).astype(np.float32)
    mean, variance = pbp.train_and_predict(x, x, x, (4,), key, epochs=10)
    assert np.sqrt(np.mean((mean - x[..., 0]) ** 2)) < 0.3
    assert 0 < variance.min() < variance.max() < 1
