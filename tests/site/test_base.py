"""What every kind of site promises, on every kind."""

from collections.abc import Callable
from typing import Any

import cases
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.site import Site
from plait.site.base import LOST, ExampleAxis, MatrixSite, Operand, along_examples, place

MATRICES = {n: c for n, c in cases.SITES.items() if c.kind not in ("bias", "scale")} | cases.REARRANGED
ALL = cases.SITES | cases.REARRANGED


def found(meet: Callable[..., Any], case: cases.SiteCase, key: jax.Array) -> tuple[Site, jax.Array]:
    """The site of a case, and the activation as it sees it."""
    meeting = meet(case.forward, jnp.zeros(case.weight), case.inputs(key))
    assert meeting.site.kind == case.kind
    return meeting.site, meeting.x


@pytest.mark.parametrize("name", ALL)
def test_a_site_does_what_the_program_does(name: str, meet: Callable[..., Any], key: jax.Array):
    weight, x = jax.random.normal(key, ALL[name].weight), ALL[name].inputs(key)
    np.testing.assert_allclose(
        meet(ALL[name].forward, weight, x).outputs, ALL[name].forward(weight, x), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("name", cases.SITES)
def test_squared_activations_combine_with_variances(name: str, meet: Callable[..., Any], key: jax.Array):
    case = cases.SITES[name]
    site, x = found(meet, case, key)
    variance = jnp.exp(jax.random.normal(key, case.weight))
    jacobian = jax.jacobian(lambda w: site.linear(x, w))(jnp.zeros(case.weight))
    jacobian = jacobian.reshape(-1, variance.size)
    expected = jnp.square(jacobian) @ variance.reshape(-1)
    np.testing.assert_allclose(site.linear(site.square(x), variance).reshape(-1), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", MATRICES)
def test_contracting_and_expanding_is_multiplying_by_the_product(name: str, meet: Callable[..., Any], key: jax.Array):
    site, x = found(meet, MATRICES[name], key)
    assert isinstance(site, MatrixSite)
    row_key, column_key = jax.random.split(key)
    rows = jax.random.normal(row_key, (2, site.layout.fan_in))
    columns = jax.random.normal(column_key, (2, site.layout.fan_out))
    expected = site.linear(x, site.layout.from_matrix(rows.T @ columns))
    np.testing.assert_allclose(site.expand(site.contract(x, rows), columns), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", MATRICES)
def test_scaling_input_and_output_is_scaling_the_weight(name: str, meet: Callable[..., Any], key: jax.Array):
    site, x = found(meet, MATRICES[name], key)
    assert isinstance(site, MatrixSite)
    layout, weight = site.layout, jax.random.normal(key, MATRICES[name].weight)
    columns = jax.random.normal(key, (layout.fan_out,))
    scaled = layout.fold(layout.refine(weight) * layout.spread_columns(columns))
    y = site.scale_output(site.linear(x, weight), columns)
    np.testing.assert_allclose(y, site.linear(x, scaled), rtol=1e-4, atol=1e-4)
    if layout.units:
        units = jax.random.normal(key, (layout.num_units,))
        scaled = layout.fold(layout.refine(weight) * layout.spread_units(units))
        y = site.linear(site.scale_input(x, units), weight)
        np.testing.assert_allclose(y, site.linear(x, scaled), rtol=1e-4, atol=1e-4)


def test_axes_over_examples_are_kept_beside_the_site(meet: Callable[..., Any], key: jax.Array):
    site, _ = found(meet, cases.SITES["dense"], key)
    assert site.x_example_axis is None
    at = site.at(ExampleAxis(0), ExampleAxis(1))
    assert (at.x_example_axis, at.y_example_axis) == (0, 1)


def test_values_are_placed_on_the_axes_they_belong_to():
    values = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(place(values, (0, 2), 3)[:, 0], values)
    np.testing.assert_array_equal(place(values, (2, 0), 3)[:, 0], values.T)


@pytest.mark.parametrize(
    ("examples", "order"),
    [
        (ExampleAxis(0), [0, 1]),
        # [B, T] merged: all entries of an example in turn. [T, B]: all examples in turn.
        (ExampleAxis(0, repeats=2, inner=2), [0, 0, 1, 1]),
        (ExampleAxis(0, repeats=2, inner=1), [0, 1, 0, 1]),
    ],
)
def test_values_of_examples_follow_a_merged_axis(examples: ExampleAxis, order: list[int]):
    values = jnp.array([[1.0], [2.0]])
    target = Operand((len(order), 1), jnp.float32)
    np.testing.assert_array_equal(along_examples(values, 2, examples, (1,), target), values[jnp.array(order)])


@pytest.mark.parametrize("examples", [None, LOST])
def test_values_of_examples_need_an_axis(examples: ExampleAxis | None):
    with pytest.raises(ValueError, match="an axis that runs over examples"):
        along_examples(jnp.ones((2, 1)), 2, examples, (1,), Operand((2, 1), jnp.float32))
