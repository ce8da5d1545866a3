"""Which draw meets which use of a weight in one pass."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait

KEY = jax.random.key(0)
X = jnp.ones((4, 3))


def test_examples_that_cannot_be_told_apart_are_refused():
    def doubled(params: Any, x: jax.Array) -> jax.Array:
        return jnp.concatenate([x, x]) @ params["w"]

    bnn = plait.bayesianize({"w": jnp.ones((3, 2))}, X, apply=doubled, posterior=plait.RankOne(2), key=KEY)
    says = r"'w' is drawn for each example, but its dense takes \(8, 3\) to \(8, 2\) .*jax\.vmap.*='weights'"
    with pytest.raises(ValueError, match=says):
        bnn(X, key=KEY)
    assert bnn(X, key=None).shape == (2, 8, 2)


def test_eager_compiled_and_mapped_calls_agree():
    bnn = plait.bayesianize(
        {"w": jnp.ones((3, 2))}, X, apply=lambda params, x: x @ params["w"], posterior=plait.MeanField(0.5), key=KEY
    )
    keys = jax.random.split(KEY, 3)
    mapped = jax.vmap(lambda k: bnn(X, key=k))(keys)
    for key, outputs in zip(keys, mapped, strict=True):
        np.testing.assert_allclose(bnn(X, key=key), outputs, rtol=1e-5)
        np.testing.assert_allclose(jax.jit(lambda k: bnn(X, key=k))(key), outputs, rtol=1e-5)


@pytest.mark.parametrize("family", [plait.MeanField(0.5), plait.RankOne(1, dropout_rate=0.3)])
def test_all_uses_of_a_weight_see_one_draw(family: plait.Family):
    def apply(params: Any, x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        step = jax.lax.scan(lambda h, v: (h, v @ params["w"]), 0.0, jnp.stack([x, x]))[1]
        return step[0], step[1], x @ params["w"]

    bnn = plait.bayesianize({"w": jnp.ones((3, 2))}, X, apply=apply, posterior=family, key=KEY)
    assert bnn.sites[0].note == "in a scan: one draw"
    first, second, outside = bnn(X, key=KEY)
    np.testing.assert_allclose(first, second, rtol=1e-5)
    np.testing.assert_allclose(first, outside, rtol=1e-5)
    assert not np.allclose(first, bnn(X, key=None)[0], rtol=1e-3)


def test_the_parts_of_a_fused_weight_have_noise_of_their_own():
    def apply(params: Any, x: jax.Array) -> jax.Array:
        first, second = jnp.split(params["w"], 2, axis=1)
        return jnp.concatenate([x @ first, x @ second], axis=1)

    weights = {"w": jnp.zeros((3, 4))}
    bnn = plait.bayesianize(weights, X, apply=apply, posterior=plait.MeanField(0.5, init_spread=0.0), key=KEY)
    outputs = jax.vmap(lambda k: bnn(X, key=k))(jax.random.split(KEY, 4_000)).reshape(4_000, -1)
    # Independent for each example and column, with the variance of three ones.
    covariance = outputs.T @ outputs / 4_000
    np.testing.assert_allclose(covariance, 0.75 * jnp.eye(16), atol=6 * 0.75 * (2 / 4_000) ** 0.5)
