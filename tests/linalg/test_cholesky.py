"""A = strictly lower triangle + diag(exp(l)), stored packed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.linalg.cholesky import CholeskyFactor
from plait.linalg.triangular import packed_shape


def test_a_factor_is_rebuilt_from_its_matrix(key: jax.Array):
    lower = jnp.tril(jax.random.normal(key, (5, 5)), -1) + jnp.diag(jnp.arange(1.0, 6.0))
    np.testing.assert_allclose(CholeskyFactor.from_matrix(lower).matrix(), lower, rtol=1e-6)


def test_any_stored_numbers_give_a_lower_triangle_with_positive_diagonal(key: jax.Array):
    matrix = CholeskyFactor(3 * jax.random.normal(key, packed_shape(4)), 4).matrix()
    assert jnp.all(jnp.diagonal(matrix) > 0)
    assert jnp.all(jnp.triu(matrix, 1) == 0)


def test_large_entries_below_the_diagonal_do_not_reach_the_exponential():
    lower = jnp.array([[1.0, 0.0], [1e4, 1.0]])
    factor = CholeskyFactor.from_matrix(lower)
    gradient = jax.grad(lambda f: jnp.sum(f.matrix()))(factor)
    np.testing.assert_array_equal(factor.matrix(), lower)
    np.testing.assert_array_equal(gradient.packed, jnp.ones(packed_shape(2)))


def test_stored_numbers_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"has shape \(3, 2\)"):
        CholeskyFactor(jnp.zeros((3, 3)), 3)
