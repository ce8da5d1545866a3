"""Switches with a fixed probability: dropout as rank-1 factors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.posterior import DroppedPosterior
from plait.site import Layout


def test_draws_have_its_moments(key: jax.Array):
    q, count = DroppedPosterior(Layout.vector((3,)), 0.2, jnp.float32), 4_000
    draws = q.samples(key, count)
    assert set(np.unique(draws)) == {0.0, np.float32(1 / 0.8)}
    np.testing.assert_array_less(jnp.abs(jnp.mean(draws, axis=0) - q.mean), 6 * (q.variance / count) ** 0.5)
    np.testing.assert_allclose(jnp.var(draws, axis=0), q.variance, rtol=0.2)
    found = -jnp.mean(jax.vmap(q.log_prob)(draws))
    assert abs(found - q.entropy()) < 6 * 1.0 / count**0.5
    assert q.sample(key).shape == (3,)
    assert (q.num_params, q.parts(), q.is_constant) == (0, [], False)


def test_a_network_under_it_has_dropout_for_each_example(key: jax.Array):
    x = jnp.ones((50, 4))
    family = plait.RankOne(1, family="dropout", sides="rows", dropout_rate=0.5, clip=None)
    bnn = plait.bayesianize({"w": jnp.eye(4)}, x, apply=lambda p, x: x @ p["w"], posterior=family, key=key)
    y = bnn(x, key=key)[0]
    assert set(np.unique(y)) == {0.0, 2.0}
    assert len(np.unique(y, axis=0)) > 5
    assert bnn.num_params == 16
    assert bnn.kl() == 0
    np.testing.assert_allclose(bnn(x, key=None)[0], x)


def test_switches_have_the_type_of_the_kernel_and_are_not_clipped(key):
    kernel = jnp.ones((3, 2), jnp.bfloat16)
    bnn = plait.bayesianize(
        {"w": kernel},
        jnp.ones((2, 3), jnp.bfloat16),
        apply=lambda p, x: x @ p["w"],
        posterior=plait.RankOne(family="dropout", dropout_rate=0.95, sides="rows"),
        key=key,
    )
    factor = bnn.posteriors["w"].rows
    assert factor.mean.dtype == factor.variance.dtype == factor.sample(key).dtype == jnp.bfloat16
    draws = jax.vmap(lambda k: bnn.posteriors["w"].sample(k))(jax.random.split(key, 500))
    assert float(draws.max()) == pytest.approx(20, rel=0.01)
