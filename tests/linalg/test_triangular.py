"""Packing a lower triangle into a rectangle keeps every entry, once."""

import math

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np

from plait.linalg.triangular import pack_lower, packed_shape, unpack_lower

SIZES = st.integers(1, 9)


@hypothesis.given(SIZES)
@hypothesis.settings(deadline=None, max_examples=20)
def test_unpacking_undoes_packing(size: int):
    lower = np.tril(np.arange(1.0, size**2 + 1, dtype=np.float32).reshape(size, size))
    packed = pack_lower(jnp.asarray(lower))
    assert packed.shape == packed_shape(size)
    np.testing.assert_array_equal(unpack_lower(packed, size), lower)
    np.testing.assert_array_equal(pack_lower(unpack_lower(packed, size)), packed)


@hypothesis.given(SIZES)
@hypothesis.settings(deadline=None, max_examples=20)
def test_no_number_is_stored_in_vain(size: int):
    assert math.prod(packed_shape(size)) == size * (size + 1) // 2
    slope = jax.grad(lambda packed: jnp.sum(unpack_lower(packed, size)))(jnp.zeros(packed_shape(size)))
    np.testing.assert_array_equal(slope, jnp.ones(packed_shape(size)))


def test_what_stands_above_the_diagonal_is_dropped():
    np.testing.assert_array_equal(unpack_lower(pack_lower(jnp.ones((4, 4))), 4), np.tril(np.ones((4, 4))))
