"""Every covariance factor agrees with its own dense matrix A and covariance U = A A^T."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.linalg.cholesky import CholeskyFactor
from plait.linalg.diagonal import DiagonalFactor
from plait.linalg.factor import Factor
from plait.linalg.householder import HouseholderFactor

FACTORS = pytest.mark.parametrize("kind", [DiagonalFactor, CholeskyFactor, HouseholderFactor])
SIZES = pytest.mark.parametrize("size", [1, 4, 5])


def moved(kind: type[Factor], size: int, key: jax.Array) -> Factor:
    """A factor away from its isotropic start."""
    leaves, structure = jax.tree.flatten(kind.isotropic(size, 0.5, jnp.result_type(float)))
    keys = jax.random.split(key, len(leaves))
    return jax.tree.unflatten(
        structure, [v + 0.5 * jax.random.normal(k, v.shape, v.dtype) for v, k in zip(leaves, keys, strict=True)]
    )


@FACTORS
@SIZES
def test_products_and_solutions_are_those_of_the_dense_matrix(kind: type[Factor], size: int, key: jax.Array):
    with jax.enable_x64(True):
        factor = moved(kind, size, key)
        vectors = jax.random.normal(key, (2, 3, size))
        np.testing.assert_allclose(factor.times(vectors), vectors @ factor.matrix().T, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(factor.times(factor.solve(vectors)), vectors, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(factor.solve(factor.times(vectors)), vectors, rtol=1e-8, atol=1e-10)


@FACTORS
@SIZES
def test_determinant_and_diagonal_are_those_of_the_dense_covariance(kind: type[Factor], size: int, key: jax.Array):
    with jax.enable_x64(True):
        factor = moved(kind, size, key)
        covariance = factor.covariance()
        np.testing.assert_allclose(covariance, factor.matrix() @ factor.matrix().T, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(2 * factor.log_det(), jnp.linalg.slogdet(covariance)[1], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(factor.diagonal(), jnp.diagonal(covariance), rtol=1e-10)


@FACTORS
@SIZES
def test_conditional_scales_are_the_diagonal_of_the_triangular_root(kind: type[Factor], size: int, key: jax.Array):
    with jax.enable_x64(True):
        factor = moved(kind, size, key)
        expected = jnp.log(jnp.diagonal(jnp.linalg.cholesky(factor.covariance())))
        np.testing.assert_allclose(factor.log_conditional_scales(), expected, rtol=1e-7, atol=1e-7)


@FACTORS
@pytest.mark.parametrize("index", [[0], [1, 3], [3, 0, 2], [0, 1, 2, 3]])
def test_some_entries_have_their_part_of_the_covariance(kind: type[Factor], index: list[int], key: jax.Array):
    with jax.enable_x64(True):
        factor, kept = moved(kind, 4, key), np.asarray(index)
        part = factor.restricted(kept)
        np.testing.assert_allclose(part.covariance(), factor.covariance()[np.ix_(kept, kept)], rtol=1e-9, atol=1e-12)
        assert part.size == len(index)


@FACTORS
def test_the_start_is_isotropic_in_the_dtype_asked_for(kind: type[Factor]):
    factor = kind.isotropic(3, 0.2, jnp.float32)
    assert factor.size == 3
    assert {leaf.dtype for leaf in jax.tree.leaves(factor)} == {jnp.dtype(jnp.float32)}
    np.testing.assert_allclose(factor.covariance(), 0.04 * np.eye(3), atol=1e-7)


@FACTORS
@SIZES
def test_the_number_of_parameters_is_what_is_stored(kind: type[Factor], size: int):
    factor = kind.isotropic(size, 1.0, jnp.float32)
    assert factor.num_params == sum(leaf.size for leaf in jax.tree.leaves(factor))


@FACTORS
def test_only_a_factor_that_says_so_has_independent_entries(kind: type[Factor], key: jax.Array):
    covariance = np.asarray(moved(kind, 4, key).covariance())
    off_diagonal = np.abs(covariance - np.diag(np.diagonal(covariance))).max()
    assert (off_diagonal == 0) == kind.is_diagonal
