"""The interpreter: sites are met, layouts carried, calls entered, and everything else gets one array."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.site import Site
from plait.trace import interpret, trace


class Given:
    """A handler that uses given weights and notes what it is asked."""

    def __init__(self, weights: dict[str, jax.Array], *, enters: bool = False, keeps: bool = False):
        self.weights, self.enters, self.keeps_checkpoints = weights, enters, keeps
        self.asked: list[tuple[str, str]] = []
        self.bodies: list[bool] = []

    def meet(self, site: Site, x: jax.Array) -> jax.Array:
        self.asked.append((site.view.path, site.kind))
        return site.apply(x, site.view.cut(self.weights[site.view.path]))

    def array(self, path: str) -> jax.Array:
        self.asked.append((path, "array"))
        return self.weights[path]

    def enters_loops(self, path: str) -> bool:
        del path
        return self.enters

    def examples(self, variable: Any) -> None:
        del variable

    @contextmanager
    def body(self, *, loop: bool) -> Iterator[Callable[[], None]]:
        self.bodies.append(loop)
        noted = list(self.asked)

        def begin() -> None:
            self.asked = list(noted)

        yield begin


X = jnp.linspace(-1.0, 1.0, 6).reshape(2, 3)
W = jnp.linspace(-2.0, 2.0, 9).reshape(3, 3)


def run(forward: Callable[[Any, Any], Any], handler: Given, x: jax.Array = X) -> Any:
    weights = handler.weights
    program = trace(lambda weights, x: forward(weights["w"], x), weights, (x,))
    return program.rebuild(interpret(program.jaxpr, weights, program.inputs, handler))


def scanned(w: jax.Array, x: jax.Array) -> jax.Array:
    return jax.lax.scan(lambda h, _: (jnp.tanh(h @ w), h), x, None, length=3)[1]


def looped(w: jax.Array, x: jax.Array) -> jax.Array:
    return jax.lax.fori_loop(0, 3, lambda _, h: h @ w, x)


def branched(w: jax.Array, x: jax.Array) -> jax.Array:
    return jax.lax.cond(x[0, 0] > 0, lambda w: x @ w, lambda w: x @ w.T, w)


@jax.custom_vjp
def steep(y: jax.Array) -> jax.Array:
    return y


steep.defvjp(lambda y: (y, None), lambda _, gradient: (7 * gradient,))


@jax.custom_vjp
def steep_product(w: jax.Array, x: jax.Array) -> jax.Array:
    return x @ w


steep_product.defvjp(lambda w, x: (x @ w, (w, x)), lambda saved, g: (5 * saved[1].T @ g, g @ saved[0].T))


PROGRAMS: dict[str, tuple[Callable[[Any, Any], Any], list[str]]] = {
    # forward, and what the handler is asked for
    "without the weight": (lambda w, x: jnp.sin(x), []),
    "a contraction": (lambda w, x: x @ w, ["dense"]),
    "after layout operations": (lambda w, x: x @ jnp.flip(w.reshape(3, 3, 1).transpose(1, 0, 2)[..., 0], 0), ["dense"]),
    "half precision": (lambda w, x: x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16), ["dense"]),
    "both operands": (lambda w, x: w @ w, ["array", "array"]),
    "a nonlinear function": (lambda w, x: x @ jnp.exp(w), ["array"]),
    "returned as it is": (lambda w, x: (w, x @ w), ["dense", "array"]),
    "a nested call": (lambda w, x: jax.jit(lambda v: jax.jit(lambda u: x @ u)(v.T))(w), ["dense"]),
    "a map over examples": (lambda w, x: jax.vmap(lambda v: w @ v)(x), ["dense"]),
    "a scan": (scanned, ["array"]),
    "a loop": (looped, ["array"]),
    "a branch": (branched, ["array"]),
    "a rule of its own": (steep_product, ["array"]),
    "a window": (lambda w, x: x[:, :2] @ w[1:, ::2], ["dense"]),
}


@pytest.mark.parametrize(("forward", "asked"), PROGRAMS.values(), ids=PROGRAMS)
def test_given_weights_come_out_as_in_the_program(forward: Callable[[Any, Any], Any], asked: list[str]):
    handler = Given({"w": W})
    expected = forward(W, X)
    for one, other in zip(jax.tree.leaves(run(forward, handler)), jax.tree.leaves(expected), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert [kind for _, kind in handler.asked] == asked


def test_a_scan_is_entered_when_the_handler_fixes_its_draw():
    handler = Given({"w": W}, enters=True)
    np.testing.assert_allclose(run(scanned, handler), scanned(W, X), rtol=1e-5)
    assert handler.asked == [("w", "dense")]
    assert handler.bodies == [True]


@pytest.mark.parametrize("keeps", [False, True])
def test_a_checkpoint_is_entered_and_kept_only_if_the_handler_says_so(keeps: bool):
    def forward(w: jax.Array, x: jax.Array) -> jax.Array:
        return jax.checkpoint(lambda x: jnp.sin(x @ w))(x)

    handler = Given({"w": W}, keeps=keeps)
    np.testing.assert_allclose(run(forward, handler), forward(W, X), rtol=1e-5)
    assert handler.asked == [("w", "dense")]
    assert handler.bodies == ([] if keeps else [False])
    # Recomputing in the backward pass is the point of a checkpoint: it is still there after interpretation.
    jaxpr = jax.make_jaxpr(lambda x: run(forward, Given({"w": W}, keeps=keeps), x))(X)
    names = [equation.primitive.name for equation in jaxpr.jaxpr.eqns]
    assert any("checkpoint" in name or "remat" in name for name in names) != keeps


def test_rules_of_functions_that_take_no_weight_survive():
    def gradient(forward: Callable[[jax.Array], jax.Array]) -> jax.Array:
        return jax.grad(lambda x: jnp.sum(forward(x)))(X)

    interpreted = gradient(lambda x: run(lambda w, x: steep(x @ w), Given({"w": W}), x))
    np.testing.assert_allclose(interpreted, 7 * gradient(lambda x: x @ W), rtol=1e-5)


def test_rules_of_functions_that_take_a_weight_survive():
    def loss(w: jax.Array) -> jax.Array:
        return jnp.sum(run(steep_product, Given({"w": w})))

    np.testing.assert_allclose(jax.grad(loss)(W), 5 * jax.grad(lambda w: jnp.sum(X @ w))(W), rtol=1e-5, atol=1e-6)
