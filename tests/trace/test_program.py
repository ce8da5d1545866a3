"""Tracing a model: weights first, outputs put back together."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait.trace import Program, trace


def run(program: Program, weights: dict[str, jax.Array]) -> Any:
    return program.rebuild(
        jax.core.eval_jaxpr(program.jaxpr.jaxpr, program.jaxpr.consts, *weights.values(), *program.inputs)
    )


def test_the_program_repeats_the_function():
    weights = {"b": jnp.ones(2), "a": jnp.full((3, 2), 2.0)}
    x = jnp.arange(6.0).reshape(2, 3)

    def forward(weights: dict[str, jax.Array], x: jax.Array, scale: jax.Array) -> dict[str, jax.Array]:
        return {"y": scale * (x @ weights["a"]) + weights["b"][None]}

    program = trace(forward, weights, (x, jnp.float32(3.0)))
    assert program.paths == ("b", "a")
    assert [v.aval.shape for v in program.jaxpr.jaxpr.invars] == [(2,), (3, 2), (2, 3), ()]
    np.testing.assert_array_equal(run(program, weights)["y"], forward(weights, x, jnp.float32(3.0))["y"])


def test_what_is_no_array_is_passed_through_in_both_directions():
    def forward(weights: dict[str, jax.Array], options: dict[str, Any]) -> tuple[Any, ...]:
        assert options["mode"] == "twice"
        return weights["w"] * 2, "a name", None, options["activation"]

    program = trace(forward, {"w": jnp.ones(2)}, ({"mode": "twice", "activation": jnp.tanh},))
    assert program.inputs == ()
    doubled, *rest = run(program, {"w": jnp.ones(2)})
    np.testing.assert_array_equal(doubled, [2, 2])
    assert rest == ["a name", None, jnp.tanh]


def test_shapes_serve_as_well_as_arrays():
    shapes = {"w": jax.ShapeDtypeStruct((3, 2), jnp.float32)}
    program = trace(lambda weights, x: x @ weights["w"], shapes, (jax.ShapeDtypeStruct((5, 3), jnp.float32),))
    assert program.jaxpr.out_avals[0].shape == (5, 2)


def test_modules_come_back_as_modules(key: jax.Array):
    layer = eqx.nn.Linear(3, 2, key=key)
    program = trace(lambda weights, layer: (layer, weights["w"]), {"w": jnp.ones(1)}, (layer,))
    again, _ = run(program, {"w": jnp.ones(1)})
    assert isinstance(again, eqx.nn.Linear)
    np.testing.assert_array_equal(again.weight, layer.weight)
