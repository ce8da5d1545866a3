"""Elementwise shifts and scales: a weight without a fan-in side."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.site import BiasSite, ScaleSite
from plait.site.base import ExampleAxis

X = jnp.arange(12.0).reshape(2, 2, 3)
WEIGHT = jnp.array([1.0, 2.0, 3.0])
SITES: dict[str, tuple[type, Callable[[Any, Any], Any]]] = {
    "shift": (BiasSite, lambda w, x: x + w[None, None]),
    "shift on the left": (BiasSite, lambda w, x: w[None, None] + x),
    "shift of each example": (BiasSite, lambda w, x: jax.vmap(lambda v: v + w[None])(x)),
    "scale": (ScaleSite, lambda w, x: x * w[None, None]),
}


@pytest.mark.parametrize(("kind", "forward"), SITES.values(), ids=SITES)
def test_a_broadcast_weight_is_a_vector_that_meets_every_place(
    kind: type, forward: Callable[[Any, Any], Any], meet: Callable[..., Any]
):
    meeting = meet(forward, WEIGHT, X)
    site = meeting.site
    assert isinstance(site, kind)
    assert site.layout.is_vector
    assert (site.layout.fan_out, site.positions, site.flops) == (3, 4, 12)
    np.testing.assert_array_equal(meeting.outputs, forward(WEIGHT, X))


def test_only_the_shift_itself_is_linear_in_the_weight(meet: Callable[..., Any]):
    site = meet(SITES["shift"][1], WEIGHT, X).site
    np.testing.assert_array_equal(site.linear(X, WEIGHT), jnp.broadcast_to(WEIGHT, X.shape))
    np.testing.assert_array_equal(site.finish(X, site.linear(X, WEIGHT)), X + WEIGHT[None, None])


def test_factors_of_each_example_go_to_its_places(meet: Callable[..., Any]):
    site = meet(SITES["shift"][1], WEIGHT, X).site.at(ExampleAxis(0), ExampleAxis(0))
    factors = jnp.array([[1.0, 1.0, 1.0], [2.0, 3.0, 4.0]])
    np.testing.assert_array_equal(site.scale_output(X, factors), X * factors[:, None])


def test_a_sign_for_each_entry_and_none_for_the_input(meet: Callable[..., Any]):
    assert meet(SITES["scale"][1], WEIGHT, X).site.sign_shapes == ((), X.shape)


def test_what_is_not_linear_in_the_weight_is_no_site(meet: Callable[..., Any]):
    for forward in (
        lambda w, x: x / w[None, None],
        lambda w, x: jnp.maximum(x, w[None, None]),
        lambda w, x: x**2 + w @ w,
    ):
        meeting = meet(forward, WEIGHT, X)
        assert meeting.site is None
        np.testing.assert_array_equal(meeting.outputs, forward(WEIGHT, X))
