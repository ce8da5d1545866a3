"""Layers remember the sizes of their arrays, whatever they remembered before."""

import equinox as eqx
import jax
import jax.numpy as jnp
from flax import nnx

from plait.sparsity.static_sizes import update_sizes

KEY = jax.random.key(0)


def test_equinox_layers_nested_anywhere():
    model = {"a": [eqx.nn.Linear(3, 4, key=KEY)], "b": eqx.nn.Sequential([eqx.nn.Conv2d(2, 4, 3, groups=2, key=KEY)])}
    cut = eqx.tree_at(
        lambda m: (m["a"][0].weight, m["b"].layers[0].weight), model, (jnp.ones((2, 1)), jnp.ones((6, 2, 3, 3)))
    )
    after = update_sizes(cut)
    assert (after["a"][0].in_features, after["a"][0].out_features) == (1, 2)
    assert (after["b"].layers[0].in_channels, after["b"].layers[0].out_channels) == (4, 6)
    assert model["a"][0].in_features == 3


def test_a_scalar_stays_one():
    layer = eqx.nn.Linear("scalar", 4, key=KEY)
    cut = update_sizes(eqx.tree_at(lambda m: m.weight, layer, jnp.ones((2, 1))))
    assert (cut.in_features, cut.out_features) == ("scalar", 2)


def test_a_perceptron_is_as_wide_as_its_widest_layer():
    model = eqx.nn.MLP(3, 2, 5, 2, key=KEY)
    cut = eqx.tree_at(
        lambda m: [layer.weight for layer in m.layers], model, [jnp.ones((4, 3)), jnp.ones((3, 4)), jnp.ones((2, 3))]
    )
    assert update_sizes(cut).width_size == 4
    assert update_sizes(eqx.nn.MLP(3, 2, 5, 0, key=KEY)).width_size == 5


def test_nnx_layers():
    layer = nnx.Linear(3, 4, rngs=nnx.Rngs(0))
    layer.kernel.set_value(jnp.ones((2, 5)))
    after = update_sizes(layer)
    assert (after.in_features, after.out_features) == (2, 5)
