"""Inputs without their values."""

import jax
import jax.numpy as jnp
import numpy as np

from plait.model.traced_inputs import TracedInputs


def test_arrays_become_shapes_and_the_rest_stays():
    arguments = ({"x": jnp.ones((2, 3)), "n": np.ones(2, np.int32)}, ("text", None), {"flag": True})
    traced = TracedInputs.of(arguments)
    again = traced.tree()
    assert again[0]["x"] == jax.ShapeDtypeStruct((2, 3), jnp.float32)
    assert again[0]["n"] == jax.ShapeDtypeStruct((2,), jnp.int32)
    assert again[1:] == (("text", None), {"flag": True})
    assert hash(traced) == hash(TracedInputs.of(arguments))
    assert traced == TracedInputs.of(arguments)
