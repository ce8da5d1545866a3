"""The abstract pass finds every use of every weight and computes nothing."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from plait.trace import SiteUse, discover, trace

X = jnp.ones((2, 3))


def uses(forward: Callable[..., Any], weights: dict[str, Any], x: Any = X) -> list[tuple[str, str | None, bool]]:
    found = discover(trace(forward, weights, (x,)), weights)
    assert all(isinstance(use, SiteUse) for use in found)
    return [(use.path, None if use.site is None else use.site.kind, use.in_loop) for use in found]


def test_uses_come_in_the_order_of_the_program():
    def forward(weights: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        hidden = jax.jit(lambda w, x: jnp.tanh(x @ w))(weights["b"], x)
        return hidden @ weights["a"] + weights["c"][None]

    weights = {"a": jnp.ones((4, 1)), "b": jnp.ones((3, 4)), "c": jnp.ones(1)}
    assert uses(forward, weights) == [("b", "dense", False), ("a", "dense", False), ("c", "bias", False)]


def test_a_weight_without_a_use_has_none():
    assert uses(lambda weights, x: x, {"w": jnp.ones(3)}) == []


def test_a_weight_that_turns_into_an_array_says_so():
    assert uses(lambda weights, x: x @ jnp.exp(weights["w"]), {"w": jnp.ones((3, 2))}) == [("w", None, False)]
    assert uses(lambda weights, x: weights["w"].T, {"w": jnp.ones((3, 2))}) == [("w", None, False)]


def test_uses_in_a_scan_are_counted_once_and_marked():
    def forward(weights: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        def step(h: jax.Array, _: None) -> tuple[jax.Array, None]:
            return jnp.tanh(h @ weights["w"]), None

        return jax.lax.scan(step, x, None, length=5)[0] @ weights["w"]

    assert uses(forward, {"w": jnp.ones((3, 3))}) == [("w", "dense", True), ("w", "dense", False)]


def test_uses_in_a_checkpoint_are_counted_once():
    def forward(weights: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        return jax.checkpoint(lambda x: jnp.sin(x @ weights["w"]))(x)

    assert uses(forward, {"w": jnp.ones((3, 3))}) == [("w", "dense", False)]


def test_nothing_is_computed():
    # 10^12 weights, of which no array could be made.
    huge = {"w": jax.ShapeDtypeStruct((1_000_000, 1_000_000), jnp.float32)}
    x = jax.ShapeDtypeStruct((2, 1_000_000), jnp.float32)
    assert uses(lambda weights, x: x @ weights["w"], huge, x) == [("w", "dense", False)]
