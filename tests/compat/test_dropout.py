"""Dropout beside weight noise: its key is one more input of the model, in whatever way a framework takes it."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checks import batch, loosely
from flax import nnx

import plait

X = batch(5, size=6)
INIT, FIRST, SECOND = jax.random.split(jax.random.key(0), 3)


class Positional(eqx.Module):
    """An Equinox module that takes its key as a second argument: the library splits it between the examples."""

    body: eqx.nn.Linear
    drop: eqx.nn.Dropout
    head: eqx.nn.Linear

    def __call__(self, x: jax.Array, key: jax.Array) -> jax.Array:
        return self.head(self.drop(jnp.tanh(self.body(x)), key=key))


def equinox_positional() -> tuple[Any, Any, Any]:
    first, second = jax.random.split(INIT)
    model = Positional(eqx.nn.Linear(5, 8, key=first), eqx.nn.Dropout(0.5), eqx.nn.Linear(8, 3, key=second))
    return model, lambda model, x, key: jax.vmap(model)(x, jax.random.split(key, len(x))), None


def equinox_keyword() -> tuple[Any, Any, Any]:
    """`key=` by name is the key of the weight noise, so that a model's own is passed by `apply`."""
    first, second = jax.random.split(INIT)
    layers = [eqx.nn.Linear(5, 8, key=first), eqx.nn.Dropout(0.5), eqx.nn.Linear(8, 3, key=second)]

    def apply(model: Any, x: jax.Array, key: jax.Array) -> jax.Array:
        return jax.vmap(lambda one, k: model(one, key=k))(x, jax.random.split(key, len(x)))

    return eqx.nn.Sequential(layers), apply, apply


def flax_linen() -> tuple[Any, Any, Any]:
    net = nn.Sequential([nn.Dense(8), nn.Dropout(0.5, deterministic=False), nn.Dense(3)])
    params = loosely(net.init)({"params": INIT, "dropout": INIT}, X)["params"]

    @loosely
    def apply(params: Any, x: jax.Array, key: jax.Array) -> jax.Array:
        return net.apply({"params": params}, x, rngs={"dropout": key})

    return params, apply, apply


def flax_nnx() -> tuple[Any, Any, Any]:
    rngs = nnx.Rngs(0)
    model = nnx.Sequential(nnx.Linear(5, 8, rngs=rngs), nnx.Dropout(0.5, rngs=rngs), nnx.Linear(8, 3, rngs=rngs))

    @loosely
    def apply(model: Any, x: jax.Array, key: jax.Array) -> jax.Array:
        nnx.reseed(model, default=key, dropout=key)
        return model(x)

    return model, apply, apply


def haiku() -> tuple[Any, Any, Any]:
    def forward(x: jax.Array) -> jax.Array:
        return hk.Linear(3)(hk.dropout(hk.next_rng_key(), 0.5, hk.Linear(8)(x)))

    net = hk.transform(forward)

    @loosely
    def apply(params: Any, x: jax.Array, key: jax.Array) -> jax.Array:
        return net.apply(params, key, x)

    return loosely(net.init)(INIT, X), apply, apply


MODELS = (equinox_positional, equinox_keyword, flax_linen, flax_nnx, haiku)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_the_mask_follows_its_own_key_and_the_weights_theirs(model: Callable[[], tuple[Any, Any, Any]], key: jax.Array):
    given, plain, apply = model()
    bnn = plait.bayesianize(given, X, FIRST, posterior=plait.Tied(2, init_scale=0.1), apply=apply, key=INIT)

    @eqx.filter_jit
    def everything(bnn: plait.BayesianModel, key: jax.Array) -> Any:
        masks = [plain(bnn.mean(), X, mask) for mask in (FIRST, SECOND)]
        centred = [bnn(X, mask, key=None) for mask in (FIRST, SECOND)]
        keys = jax.random.split(key, 4)
        noisy = jax.vmap(lambda k: bnn(X, FIRST, key=k))(keys)
        masked = jax.vmap(lambda mask: bnn(X, mask, key=key))(jnp.stack([FIRST, SECOND]))
        return masks, centred, noisy, masked

    masks, centred, noisy, masked = everything(bnn, key)
    for ours, theirs in zip(centred, masks, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    assert float(jnp.max(jnp.abs(centred[0] - centred[1]))) > 0.1
    assert bool(jnp.all(jnp.std(noisy, axis=0) > 1e-4))
    np.testing.assert_allclose(jnp.mean(noisy, axis=0), masks[0], atol=1.5)
    # A mask has nothing to do with the noise of the weights: what it drops from the first layer is dropped with it.
    assert float(jnp.max(jnp.abs(masked[0] - masked[1]))) > 0.1
    np.testing.assert_allclose(bnn(X, FIRST, key=key), masked[0], rtol=1e-4, atol=1e-5)
