"""Which weights make up layers, and why others do not."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

import plait
from plait.natural.layers import find_layers


def test_layers_come_in_the_order_of_the_program_with_their_biases(key: jax.Array):
    def apply(w: dict[str, Any], x: jax.Array) -> jax.Array:
        numbers = ("NHC", "HIO", "NHC")
        hidden = lax.conv_general_dilated(x, w["z"], (1,), "SAME", dimension_numbers=numbers) + w["z bias"][None, None]
        hidden = lax.conv_general_dilated(
            hidden, w["grouped"], (1,), "SAME", dimension_numbers=numbers, feature_group_count=2
        )
        hidden = jnp.tanh(hidden.reshape(x.shape[0], -1) @ w["a"] + w["a bias"][None])
        hidden = hidden @ w["twice"] @ w["twice"] + w["lonely"][None]
        return hidden @ w["wide"] + w["constant"][None]

    shapes = {
        "z": (2, 2, 4), "z bias": (4,), "grouped": (1, 2, 4), "a": (12, 3), "a bias": (3,), "twice": (3, 3),
        "lonely": (3,), "wide": (3, 2), "constant": (2,),
    }  # fmt: skip
    weights = {path: jnp.ones(shape) for path, shape in shapes.items()}
    bnn = plait.bayesianize(
        weights,
        jnp.zeros((2, 3, 2)),
        apply=apply,
        posterior={"constant": plait.Point(), "*": plait.MeanField()},
        prior={"wide": plait.Normal(jnp.ones((3, 2))), "*": plait.Normal(1.0)},
        key=key,
    )
    layers, reasons = find_layers(bnn, kinds=("dense", "conv"))
    assert [layer.paths for layer in layers] == [("z", "z bias"), ("a", "a bias")]
    assert [(layer.rows, layer.columns) for layer in layers] == [(5, 4), (13, 3)]
    assert reasons == {
        "grouped": "conv in 2 groups",
        "twice": "dense, used 2 times",
        "lonely": "bias",
        "wide": "dense, with a prior scale for each entry",
    }
    assert [layer.kernel for layer in find_layers(bnn, kinds=("dense",))[0]] == ["a"]
