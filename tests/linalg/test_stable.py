"""Values and gradients of the elementary functions where the plain ones fail."""

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np

from plait.linalg.stable import inverse_softplus, safe_sqrt, scale_last


@hypothesis.given(st.floats(1e-30, 1e30))
@hypothesis.settings(deadline=None)
def test_a_safe_root_is_the_root_of_positive_numbers(value: float):
    number = jnp.float32(value)
    root, slope = jax.value_and_grad(safe_sqrt)(number)
    np.testing.assert_allclose(root, np.sqrt(np.float32(value)), rtol=1e-6)
    np.testing.assert_allclose(slope, 0.5 / np.sqrt(np.float32(value)), rtol=1e-6)


def test_a_safe_root_has_no_slope_at_zero_and_no_nan_below():
    value, slope = jax.vmap(jax.value_and_grad(safe_sqrt))(jnp.array([0.0, -1e-9]))
    np.testing.assert_array_equal(value, [0, 0])
    np.testing.assert_array_equal(slope, [0, 0])


@hypothesis.given(st.floats(1e-6, 1e4))
@hypothesis.settings(deadline=None)
def test_softplus_undoes_its_inverse(value: float):
    np.testing.assert_allclose(jax.nn.softplus(inverse_softplus(jnp.float32(value))), value, rtol=1e-5)


def test_scales_meet_the_last_axis(key: jax.Array):
    vectors, scales = jax.random.normal(key, (2, 3, 4)), jnp.arange(4.0)
    np.testing.assert_array_equal(scale_last(vectors, scales), np.asarray(vectors) * np.arange(4.0, dtype=np.float32))
