import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.linalg.decompositions import eigh, inverse_lower, inverse_root


@pytest.fixture
def matrices(key: jax.Array) -> jax.Array:
    roots = jax.random.normal(key, (3, 4, 6))
    return roots @ jnp.swapaxes(roots, 1, 2) + 0.1 * jnp.eye(4)[None]


def test_a_root_of_the_inverse_is_lower_triangular(matrices: jax.Array):
    for matrix, root in zip(matrices, jax.vmap(inverse_root)(matrices), strict=True):
        np.testing.assert_array_equal(root, np.tril(root))
        np.testing.assert_allclose(root.T @ matrix @ root, np.eye(4), atol=2e-4)
        np.testing.assert_allclose(root, inverse_root(matrix), rtol=1e-4, atol=1e-5)


def test_eigenvectors_rebuild_each_matrix_of_a_batch(matrices: jax.Array):
    values, vectors = jax.vmap(eigh)(matrices)
    rebuilt = np.einsum("bij,bj,bkj->bik", vectors, values, vectors)
    np.testing.assert_allclose(rebuilt, matrices, atol=1e-4)


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_the_inverse_of_a_triangle(size: int, key: jax.Array):
    lower = jnp.tril(jax.random.normal(key, (size, size)), -1) + jnp.eye(size)
    np.testing.assert_allclose(inverse_lower(lower) @ lower, np.eye(size), atol=1e-3)


@pytest.mark.parametrize("function", [eigh, inverse_root])
def test_a_batch_is_no_batched_kernel(function, matrices: jax.Array):
    # Batched LAPACK kernels that run side by side can wait for each other for ever.
    compiled = jax.jit(jax.vmap(function)).lower(matrices).as_text()
    kernels = [line for line in compiled.splitlines() if "custom_call" in line and "lapack" in line]
    assert kernels
    assert not any("tensor<3x4x4" in line for line in kernels)
