"""Contractions of any dimension numbers."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.site import DenseSite

CASES: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...], tuple[int, int, int, int]]] = {
    # forward(w, x), shapes of w and x, (fan_in, fan_out, positions, groups)
    "in x out": (lambda w, x: x @ w, (3, 4), (5, 3), (3, 4, 5, 1)),
    "out x in": (lambda w, x: x @ w.T, (4, 3), (5, 3), (3, 4, 5, 1)),
    "on the left": (lambda w, x: w @ x, (4, 3), (3, 5), (3, 4, 5, 1)),
    "places": (lambda w, x: jnp.einsum("nti,io->nto", x, w), (3, 4), (2, 5, 3), (3, 4, 10, 1)),
    "two axes in": (lambda w, x: jnp.einsum("nhi,hio->no", x, w), (2, 3, 4), (5, 2, 3), (6, 4, 5, 1)),
    "two axes out": (lambda w, x: jnp.einsum("ni,hio->nho", x, w), (2, 3, 4), (5, 3), (3, 8, 5, 1)),
    "one matrix for each head": (lambda w, x: jnp.einsum("nhi,hio->nho", x, w), (2, 3, 4), (5, 2, 3), (3, 8, 5, 2)),
    "mapped over examples": (lambda w, x: jax.vmap(lambda v: w @ v)(x), (4, 3), (5, 3), (3, 4, 5, 1)),
}


@pytest.mark.parametrize(("forward", "weight", "x", "expected"), CASES.values(), ids=CASES)
def test_sides_and_positions_are_those_of_the_matrix(
    forward: Any, weight: tuple[int, ...], x: tuple[int, ...], expected: tuple[int, ...], meet: Callable[..., Any]
):
    site = meet(forward, jnp.zeros(weight), jnp.zeros(x)).site
    assert isinstance(site, DenseSite)
    assert (site.layout.fan_in, site.layout.fan_out, site.positions, site.groups) == expected
    assert site.flops == 2 * site.positions * site.layout.size


def test_a_weight_that_is_repeated_on_the_way_is_no_site(meet: Callable[..., Any]):
    def forward(w: jax.Array, x: jax.Array) -> jax.Array:
        return jax.lax.batch_matmul(x, jnp.broadcast_to(w[None], (2, 3, 4)))

    x = jnp.ones((2, 5, 3))
    meeting = meet(forward, jnp.ones((3, 4)), x)
    assert meeting.site is None
    np.testing.assert_array_equal(meeting.outputs, forward(jnp.ones((3, 4)), x))


def test_options_of_the_contraction_survive(meet: Callable[..., Any]):
    def forward(w: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.matmul(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16), preferred_element_type=jnp.float32)

    meeting = meet(forward, jnp.full((3, 4), 1.001), jnp.full((2, 3), 1.001))
    assert isinstance(meeting.site, DenseSite)
    assert meeting.site.view.dtype == jnp.bfloat16
    assert meeting.outputs.dtype == jnp.float32
    np.testing.assert_array_equal(meeting.outputs, forward(jnp.full((3, 4), 1.001), jnp.full((2, 3), 1.001)))
