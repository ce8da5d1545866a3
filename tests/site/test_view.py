"""Layout operations on a symbol replay on the array what the program would have done to it."""

import math
from typing import Any

import hypothesis
import hypothesis.strategies as st
import jax.numpy as jnp
import numpy as np

from plait.site.layout import in_order
from plait.site.view import WeightView

SHAPES = st.lists(st.sampled_from([1, 2, 3, 4]), min_size=1, max_size=3).map(tuple)


def transpose(draw: Any, view: WeightView, array: np.ndarray) -> tuple[WeightView | None, np.ndarray]:
    order = draw(st.permutations(range(array.ndim)))
    return view.transpose(order), array.transpose(order)


def reshape(draw: Any, view: WeightView, array: np.ndarray) -> tuple[WeightView | None, np.ndarray]:
    first = draw(st.sampled_from([n for n in (1, 2, 3, 4, 6) if array.size % n == 0]))
    sizes = draw(st.permutations([first, array.size // first, 1]))
    return view.reshape(sizes), array.reshape(sizes)


def flip(draw: Any, view: WeightView, array: np.ndarray) -> tuple[WeightView | None, np.ndarray]:
    axes = draw(st.lists(st.sampled_from(range(array.ndim)), unique=True)) if array.ndim else []
    return view.flip(axes), np.flip(array, axes)


def window(draw: Any, view: WeightView, array: np.ndarray) -> tuple[WeightView | None, np.ndarray]:
    starts = [draw(st.integers(0, n - 1)) for n in array.shape]
    limits = [draw(st.integers(a + 1, n)) for a, n in zip(starts, array.shape, strict=True)]
    strides = [draw(st.integers(1, 2)) for _ in array.shape]
    cut = tuple(slice(*triple) for triple in zip(starts, limits, strides, strict=True))
    return view.slice(starts, limits, strides), array[cut]


def squeeze(draw: Any, view: WeightView, array: np.ndarray) -> tuple[WeightView | None, np.ndarray]:
    del draw
    axes = [i for i, n in enumerate(array.shape) if n == 1]
    return view.squeeze(axes), array.squeeze(tuple(axes))


def broadcast(draw: Any, view: WeightView, array: np.ndarray) -> tuple[WeightView | None, np.ndarray]:
    lead = draw(st.integers(1, 2))
    shape = (lead, *(2 if n == 1 else n for n in array.shape))
    return view.broadcast(shape, range(1, len(shape))), np.broadcast_to(array[None], shape)


@hypothesis.given(st.data(), SHAPES)
@hypothesis.settings(deadline=None, max_examples=40)
def test_any_chain_of_operations_is_replayed(data: st.DataObject, shape: tuple[int, ...]):
    array = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    weight, view = jnp.asarray(array), WeightView.of("w", shape, jnp.float32)
    for operation in data.draw(
        st.lists(st.sampled_from([transpose, reshape, flip, window, squeeze, broadcast]), max_size=5)
    ):
        after, array_after = operation(data.draw, view, array)
        # None: the pieces did not survive, and the interpreter would have drawn an array.
        if after is None:
            break
        view, array = after, array_after
    assert view.sizes == array.shape
    np.testing.assert_array_equal(view.show(view.cut(weight)), array)


def test_a_cast_is_replayed_and_only_to_floating_types():
    view = WeightView.of("w", (2,), jnp.float32)
    half = view.cast(jnp.bfloat16)
    assert half is not None
    assert half.show(jnp.ones(2)).dtype == jnp.bfloat16
    assert half.show(jnp.ones(2), cast=False).dtype == jnp.float32
    assert view.cast(jnp.int32) is None


def test_a_part_of_a_stretched_axis_shows_the_same_entries():
    stretched = WeightView.of("w", (3, 1), jnp.float32).broadcast((3, 4), (0, 1))
    part = stretched.slice((1, 1), (3, 4), None)
    assert part is not None
    weight = jnp.arange(3.0)[:, None]
    np.testing.assert_array_equal(part.show(part.cut(weight)), np.broadcast_to([[1.0], [2.0]], (2, 3)))


def test_a_stretched_axis_is_a_broadcast_one():
    view = WeightView.of("w", (3, 1), jnp.float32).broadcast((3, 4), (0, 1))
    assert view.is_broadcast([1])
    assert not view.is_broadcast([0])
    assert view.reshape((12,)) is None


def test_a_side_is_shown_in_the_order_seen():
    # w [6, 2] -> [2, 3, 2] -> [3, 2, 2], its first axis flipped.
    view = WeightView.of("w", (6, 2), jnp.float32).reshape((2, 3, 2))
    assert view is not None
    view = view.transpose((1, 0, 2)).flip([0])
    order = view.atoms_of([0, 1])
    values = jnp.arange(6.0)[None]
    shown = view.show_side(values, in_order(order), order)
    expected = np.flip(np.arange(6).reshape(2, 3).T, 0)
    np.testing.assert_array_equal(shown[0], expected)
    np.testing.assert_array_equal(view.stored_index(order), expected.reshape(-1))


def test_windows_of_windows_are_windows_of_the_weight():
    view = WeightView.of("w", (10,), jnp.float32).slice([1], [10], [2])
    assert view is not None
    view = view.slice([1], [5], [2])
    assert view is not None
    np.testing.assert_array_equal(view.cut(jnp.arange(10.0)), [3, 7])


def test_a_part_of_a_flipped_or_merged_axis_is_no_window():
    flipped = WeightView.of("w", (4,), jnp.float32).flip([0])
    assert flipped.slice([0], [2], None) is None
    merged = WeightView.of("w", (2, 3), jnp.float32).reshape((6,))
    assert merged is not None
    assert merged.slice([0], [3], None) is None
