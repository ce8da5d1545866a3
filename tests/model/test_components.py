"""Mixtures and what couples examples: batch statistics of each component, or of all of them together."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.model.bayesian_model import COMPONENTS


def normalised(params: dict[str, jax.Array], x: jax.Array, shared: bool) -> jax.Array:
    y = x @ params["w"] + params["b"][None]
    mean = jnp.mean(y, axis=0, keepdims=True)
    return y - (jax.lax.pmean(mean, COMPONENTS) if shared else mean)


@pytest.mark.parametrize("shared", [False, True])
def test_batch_statistics_are_of_a_component_or_of_all(shared: bool, key: jax.Array):
    params = {"w": jax.random.normal(key, (3, 2)), "b": jnp.zeros(2)}
    x = jax.random.normal(key, (5, 3))
    bnn = plait.bayesianize(params, x, apply=lambda p, x: normalised(p, x, shared), posterior=plait.RankOne(3), key=key)
    y = bnn(x, key=key)
    assert y.shape == (3, 5, 2)
    by_component = jnp.mean(y, axis=1)
    np.testing.assert_allclose(jnp.mean(by_component, axis=0), 0, atol=1e-5)
    assert bool(jnp.all(jnp.abs(by_component) < 1e-5)) != shared


@pytest.mark.parametrize("sides", ["rows", "columns", "both"])
def test_every_side_can_be_trained_whatever_the_inputs_vary_over(sides, key):
    x = jnp.ones((4, 3))
    bnn = plait.bayesianize(
        eqx.nn.MLP(3, 2, 5, 1, key=key), x, posterior=plait.RankOne(components=2, sides=sides), key=key
    )
    slope = eqx.filter_grad(lambda bnn: jnp.sum(bnn(x, key=key)))(bnn)
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(slope.posteriors))
    assert bool(jnp.any(slope.posteriors["layers.0.weight"].kernel != 0))
