"""A weight tensor seen as a matrix."""

import math

import hypothesis
import hypothesis.strategies as st
import jax.numpy as jnp
import numpy as np
import pytest

from plait.site import Atom, Layout

AXES = st.lists(st.tuples(st.integers(1, 3), st.booleans()), min_size=1, max_size=4)
"""The size of each axis, and whether it is on the fan-in side."""


def layout_of(axes: list[tuple[int, bool]]) -> Layout:
    return Layout.matrix(tuple(size for size, _ in axes), [i for i, (_, is_row) in enumerate(axes) if is_row])


def numbered(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(math.prod(shape), dtype=np.float32).reshape(shape)


@hypothesis.given(AXES)
@hypothesis.settings(deadline=None, max_examples=20)
def test_the_matrix_has_every_entry_once_and_goes_back(axes: list[tuple[int, bool]]):
    layout = layout_of(axes)
    tensor = jnp.asarray(numbered((2, *layout.shape)))
    matrix = layout.to_matrix(tensor)
    assert matrix.shape == (2, layout.fan_in, layout.fan_out)
    assert layout.fan_in * layout.fan_out == layout.size
    np.testing.assert_array_equal(np.sort(matrix, axis=None), np.sort(tensor, axis=None))
    np.testing.assert_array_equal(layout.from_matrix(matrix), tensor)


@hypothesis.given(AXES)
@hypothesis.settings(deadline=None, max_examples=20)
def test_spread_factors_multiply_to_their_outer_product(axes: list[tuple[int, bool]]):
    layout = layout_of(axes)
    rows, columns = np.arange(1.0, layout.fan_in + 1), np.arange(1.0, layout.fan_out + 1)
    rows, columns = jnp.asarray(rows, jnp.float32), jnp.asarray(columns, jnp.float32)
    product = layout.fold(layout.spread_rows(rows) * layout.spread_columns(columns))
    np.testing.assert_array_equal(layout.to_matrix(product), jnp.outer(rows, columns))


def test_kernels_of_all_conventions_have_the_same_sides():
    hwio = Layout.matrix((3, 2, 4, 5), [0, 1, 2], taps=[0, 1])
    oihw = Layout.matrix((5, 4, 3, 2), [1, 2, 3], taps=[2, 3])
    for layout in (hwio, oihw):
        assert (layout.fan_in, layout.fan_out, layout.num_units) == (24, 5, 4)
    kernel = numbered((3, 2, 4, 5))
    # Rows lie in the order of the tensor's own memory: taps first for HWIO, channels first for OIHW.
    first = hwio.to_matrix(jnp.asarray(kernel)).reshape(3, 2, 4, 5)
    second = oihw.to_matrix(jnp.asarray(kernel.transpose(3, 2, 0, 1))).reshape(4, 3, 2, 5)
    np.testing.assert_array_equal(first, second.transpose(1, 2, 0, 3))


def test_units_are_rows_without_taps():
    layout = Layout.matrix((3, 2, 4), [0, 1], taps=[0])
    spread = layout.spread_units(jnp.array([10.0, 20.0]))
    expected = np.broadcast_to(np.array([10.0, 20.0])[None, :, None], (3, 2, 4))
    np.testing.assert_array_equal(layout.fold(jnp.broadcast_to(spread, (3, 2, 4))), expected)


def test_a_vector_is_all_columns():
    layout = Layout.vector((2, 3))
    assert layout.is_vector
    assert (layout.fan_in, layout.fan_out) == (1, 6)


def test_pieces_of_an_axis_on_one_side_become_one():
    # An axis of 6 that a model split into 2 x 3 on its way to the contraction.
    outer, inner = Atom(0, 2, 3), Atom(0, 3, 1)
    whole = Layout.from_atoms((6, 4), [outer, inner], [Atom(1, 4, 1)])
    assert whole == Layout.matrix((6, 4), [0])
    apart = Layout.from_atoms((6, 4), [inner], [outer, Atom(1, 4, 1)])
    assert (apart.fan_in, apart.fan_out) == (3, 8)
    tensor = numbered((6, 4))
    expected = tensor.reshape(2, 3, 4).transpose(1, 0, 2).reshape(3, 8)
    np.testing.assert_array_equal(apart.to_matrix(jnp.asarray(tensor)), expected)


def test_some_entries_of_an_axis_are_a_layout_of_their_own():
    layout = Layout.matrix((3, 2, 4), [0, 1], taps=[0])
    kept = (np.array([0, 1, 2]), np.array([1]), np.array([0, 3]))
    part = layout.restricted(kept)
    assert part == Layout.matrix((3, 1, 2), [0, 1], taps=[0])
    rows, columns = layout.sides_of(kept)
    np.testing.assert_array_equal(rows, [1, 3, 5])
    np.testing.assert_array_equal(columns, [0, 3])


def test_sums_over_all_atoms_but_some_are_broadcastable():
    layout = Layout.matrix((3, 2), [0])
    tensor = jnp.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(layout.pool(tensor, layout.rows), [[1.0], [5.0], [9.0]])
    np.testing.assert_array_equal(layout.pool(tensor, layout.columns), [[6.0, 9.0]])


def test_an_axis_that_rows_and_columns_share_cannot_be_cut():
    layout = Layout((6,), (Atom(0, 2, 3),), (Atom(0, 3, 1),))
    with pytest.raises(ValueError, match=r"share an axis of a weight of shape \(6,\): it cannot be cut there"):
        layout.restricted((np.array([0, 1]),))
