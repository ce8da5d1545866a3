"""Where the examples lie in intermediate values, seen by tracing with two batch sizes."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from plait.site.base import LOST, ExampleAxis
from plait.trace import example_axes, trace

BATCH, STEPS, WIDTH = 4, 3, 2


def axis_of_output(forward: Callable[[Any], Any]) -> ExampleAxis | None:
    """The examples of forward(x) for x of [examples, steps, width]."""
    programs = [
        trace(lambda weights, x: forward(x), {}, (jax.ShapeDtypeStruct((size, STEPS, WIDTH), jnp.float32),)).jaxpr
        for size in (BATCH, BATCH + 1)
    ]
    axes = example_axes(*programs, BATCH, BATCH + 1)
    assert axes.num_examples == BATCH
    return axes.of(programs[0].jaxpr.outvars[0])


OUTPUTS: dict[str, tuple[Callable[[Any], Any], ExampleAxis | None]] = {
    "where it was": (jnp.tanh, ExampleAxis(0)),
    "moved": (lambda x: jnp.moveaxis(x, 0, 2), ExampleAxis(2)),
    "put last by a map": (lambda x: jax.vmap(lambda v: v.sum(0), out_axes=1)(x), ExampleAxis(1)),
    "no longer there": (lambda x: jnp.sum(jnp.exp(x), 0), None),
    "merged with steps": (lambda x: jnp.exp(x).reshape(-1, WIDTH), ExampleAxis(0, STEPS, STEPS)),
    "merged below steps": (
        lambda x: jnp.exp(jnp.swapaxes(x, 0, 1).reshape(-1, WIDTH)),
        ExampleAxis(0, STEPS, 1),
    ),
    "merged, then taken apart": (
        lambda x: jnp.exp(x.reshape(-1, WIDTH)).reshape(-1, STEPS, WIDTH),
        ExampleAxis(0),
    ),
    "all in one axis": (lambda x: jnp.exp(x.reshape(-1)), ExampleAxis(0, STEPS * WIDTH, STEPS * WIDTH)),
    "one batch after another": (lambda x: jnp.concatenate([x, x]), LOST),
    "two axes over examples": (lambda x: jnp.einsum("nti,mti->nm", x, x), LOST),
    "inside a jit": (lambda x: jax.jit(lambda v: jnp.swapaxes(v, 0, 1))(x), ExampleAxis(1)),
    "carried by a scan": (
        lambda x: jax.lax.scan(lambda h, v: (h + v, None), x[:, 0], jnp.swapaxes(x, 0, 1))[0],
        ExampleAxis(0),
    ),
}


@pytest.mark.parametrize(("forward", "expected"), OUTPUTS.values(), ids=OUTPUTS)
def test_the_axis_is_followed(forward: Callable[[Any], Any], expected: ExampleAxis | None):
    assert axis_of_output(forward) == expected


def test_a_function_called_twice_with_different_axes_knows_neither():
    inner = jax.jit(jnp.exp)
    programs = [
        trace(
            lambda weights, x: inner(x) + jnp.swapaxes(inner(jnp.swapaxes(x, 0, 1)), 0, 1),
            {},
            (jax.ShapeDtypeStruct((size, size, WIDTH), jnp.float32),),
        ).jaxpr
        for size in (BATCH, BATCH + 1)
    ]
    axes = example_axes(*programs, BATCH, BATCH + 1)
    assert axes.of(programs[0].jaxpr.outvars[0]) == LOST


def test_a_program_that_changes_with_the_batch_is_refused():
    with pytest.raises(ValueError, match="changes with the batch size"):
        axis_of_output(lambda x: jnp.exp(x) if x.shape[0] == BATCH else jnp.log(x))
