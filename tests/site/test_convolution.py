"""Convolutions: rows are taps times channels of one group, columns output channels."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from plait.site import ConvolutionSite

SPECS = {"HWIO": ("NHWC", "HWIO", "NHWC"), "OIHW": ("NCHW", "OIHW", "NCHW")}


def convolve(spec: str, **options: Any) -> Callable[[Any, Any], Any]:
    settings = {"window_strides": (1, 1), "padding": "VALID"} | options
    return lambda w, x: lax.conv_general_dilated(x, w, dimension_numbers=SPECS[spec], **settings)


@pytest.mark.parametrize(
    ("spec", "weight", "x"), [("HWIO", (3, 2, 4, 6), (5, 7, 8, 4)), ("OIHW", (6, 4, 3, 2), (5, 4, 7, 8))]
)
def test_sides_are_those_of_the_patches(
    spec: str, weight: tuple[int, ...], x: tuple[int, ...], meet: Callable[..., Any]
):
    site = meet(convolve(spec, window_strides=(2, 1)), jnp.zeros(weight), jnp.zeros(x)).site
    assert isinstance(site, ConvolutionSite)
    assert (site.layout.fan_in, site.layout.fan_out, site.layout.num_units) == (3 * 2 * 4, 6, 4)
    assert site.positions == 5 * 3 * 7
    assert site.flops == 2 * site.positions * 3 * 2 * 4 * 6


def test_a_group_sees_its_own_channels_only(meet: Callable[..., Any]):
    site = meet(convolve("HWIO", feature_group_count=2), jnp.zeros((1, 1, 2, 6)), jnp.zeros((5, 3, 3, 4))).site
    assert (site.groups, site.layout.fan_in, site.layout.fan_out) == (2, 2, 6)


def test_flipouts_signs_are_shared_by_all_places(meet: Callable[..., Any]):
    site = meet(convolve("HWIO"), jnp.zeros((2, 2, 4, 6)), jnp.zeros((5, 3, 3, 4))).site
    assert site.sign_shapes == ((5, 1, 1, 4), (5, 1, 1, 6))


def test_input_factors_act_on_channels_and_not_on_taps(meet: Callable[..., Any]):
    meeting = meet(convolve("HWIO"), jnp.ones((2, 2, 3, 1)), jnp.ones((1, 2, 2, 3)))
    scaled = meeting.site.scale_input(meeting.x, jnp.array([1.0, 10.0, 100.0]))
    np.testing.assert_array_equal(scaled, jnp.broadcast_to(jnp.array([1.0, 10.0, 100.0]), (1, 2, 2, 3)))


def test_the_weight_as_the_image_is_no_site(meet: Callable[..., Any]):
    # Its roles exchanged, as in the gradient of a convolution.
    def forward(w: Any, x: Any) -> Any:
        return lax.conv_general_dilated(w, x, (1, 1), "VALID", dimension_numbers=SPECS["HWIO"])

    assert meet(forward, jnp.ones((1, 3, 3, 4)), jnp.ones((2, 2, 4, 6))).site is None
