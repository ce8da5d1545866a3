"""Latencies of models side by side."""

import equinox as eqx
import jax
import jax.numpy as jnp

import plait
from plait.bench.latency import latency


def test_every_model_is_timed_on_the_same_inputs(key: jax.Array):
    x = jnp.ones((2, 3))
    bnn = plait.bayesianize(eqx.nn.MLP(3, 2, 4, 1, key=key), x, key=key)
    small = plait.shrink(bnn, masks={})
    seconds = latency({"before": bnn, "after": small.model}, x, rounds=1)
    assert set(seconds) == {"before", "after"}
    assert all(value > 0 for value in seconds.values())
