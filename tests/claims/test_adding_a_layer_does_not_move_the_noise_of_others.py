"""The noise of a weight depends on the key, on its path and on which of its uses it is: on nothing else."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait

X = jnp.ones((4, 3))
NAMES = ("first", "second", "third", "fourth")


def layers(*names: str) -> dict[str, jax.Array]:
    """Equal values under different names."""
    return {name: jnp.ones((3, 2)) for name in names}


def side_by_side(params: dict[str, jax.Array], x: jax.Array) -> dict[str, jax.Array]:
    return {name: x @ weight for name, weight in params.items()}


def build(params: Any, key: jax.Array, *, apply: Callable[..., Any] = side_by_side, **options: Any) -> Any:
    return plait.bayesianize(params, X, apply=apply, key=key, **options)


FAMILIES: dict[str, dict[str, Any]] = {
    "local": {"posterior": plait.Tied(2, 0.3)},
    "weights": {"posterior": plait.MatrixNormal(init_scale=0.3), "estimator": "weights"},
    "flipout": {"posterior": plait.MeanField(0.3), "estimator": "flipout"},
    "per_example": {"posterior": plait.RankOne(2)},
}


@pytest.mark.parametrize("options", FAMILIES.values(), ids=FAMILIES)
def test_a_layer_more_leaves_the_others_as_they_were(options: dict[str, Any], key: jax.Array):
    few, many = (build(layers(*names), key, **options) for names in (NAMES[1:3], NAMES))
    fewer, more = few(X, key=key), many(X, key=key)
    drawn, redrawn = few.sample(key), many.sample(key)
    for name in NAMES[1:3]:
        np.testing.assert_allclose(more[name], fewer[name], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(redrawn[name], drawn[name], rtol=1e-5, atol=1e-6)
    # Layers that differ in nothing but their name have noise of their own.
    assert len({float(y.reshape(-1)[0]) for y in more.values()}) == len(NAMES)


def test_the_order_of_layers_does_not_matter(key: jax.Array):
    def backwards(params: dict[str, jax.Array], x: jax.Array) -> dict[str, jax.Array]:
        return {name: x @ params[name] for name in sorted(params, reverse=True)}

    one, other = (build(layers(*NAMES[:2]), key, apply=f)(X, key=key) for f in (side_by_side, backwards))
    for name in NAMES[:2]:
        np.testing.assert_allclose(one[name], other[name], rtol=1e-5, atol=1e-6)


def test_parts_of_a_fused_weight_have_noise_of_their_own(key: jax.Array):
    def halves(params: dict[str, jax.Array], x: jax.Array) -> tuple[jax.Array, ...]:
        return x @ params["w"][:, :2], x @ params["w"][:, 2:]

    bnn = build({"w": jnp.ones((3, 4))}, key, apply=halves, posterior=plait.MeanField(0.3))
    first, second = bnn(X, key=key)
    assert jnp.all(first != second)


def test_tied_weights_are_one_random_variable(key: jax.Array):
    def tied(params: dict[str, jax.Array], tokens: jax.Array) -> tuple[jax.Array, ...]:
        embedding = params["embedding"]
        one_hot = jax.nn.one_hot(tokens, 4)
        return embedding[tokens], one_hot @ embedding, jnp.eye(3) @ embedding.T

    tokens = jnp.arange(4)
    params = {"embedding": jnp.ones((4, 3))}
    bnn = plait.bayesianize(params, tokens, apply=tied, posterior=plait.MeanField(0.3), key=key)
    looked_up, contracted, transposed = bnn(tokens, key=key)
    np.testing.assert_allclose(looked_up, contracted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(looked_up, transposed.T, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(looked_up, bnn.sample(key)["embedding"], rtol=1e-5, atol=1e-6)
    assert bnn.sites[0].note == "3 uses: one draw"


def test_compiling_changes_nothing(key: jax.Array):
    bnn = build(layers("w"), key, **FAMILIES["local"])
    compiled = jax.jit(lambda k: bnn(X, key=k)["w"])(key)
    np.testing.assert_allclose(bnn(X, key=key)["w"], compiled, rtol=1e-5, atol=1e-6)
    with jax.disable_jit():
        np.testing.assert_allclose(bnn(X, key=key)["w"], compiled, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["local", "per_example"])
def test_mapping_over_keys_equals_a_loop_over_them(name: str, key: jax.Array):
    bnn = build(layers("w"), key, **FAMILIES[name])
    keys = jax.random.split(key, 3)
    mapped = jax.vmap(lambda k: bnn(X, key=k)["w"])(keys)
    for one, k in zip(mapped, keys, strict=True):
        np.testing.assert_allclose(one, bnn(X, key=k)["w"], rtol=1e-5, atol=1e-6)
    assert jnp.all(mapped[0] != mapped[1])


def test_equal_keys_give_equal_noise_and_others_other_noise(key: jax.Array):
    bnn = build(layers("w"), key, posterior=plait.MeanField(0.3))
    first, second = jax.random.split(key)
    np.testing.assert_array_equal(bnn(X, key=first)["w"], bnn(X, key=first)["w"])
    assert jnp.all(bnn(X, key=first)["w"] != bnn(X, key=second)["w"])
