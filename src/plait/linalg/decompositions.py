"""Decompositions of positive matrices, for what is not differentiated: X = V diag(s) V^T, and R with R R^T = X^-1.

Under `jax.vmap` LAPACK goes through a batch one matrix after another. jaxlib's kernels would share the batch out to the
threads that they run on themselves, and wait: two of them on two threads wait for ever (seen with jaxlib 0.10.2).

    [[A, 0], [B, C]]^-1 = [[A^-1, 0], [-C^-1 B A^-1, C^-1]]

for all blocks of one size at once, from single numbers up: a logarithm of products, whatever the batch.
"""

import jax.numpy as jnp
from jax.custom_batching import sequential_vmap

from plait._typing import Array


@sequential_vmap
def eigh(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and eigenvectors in columns."""
    values, vectors = jnp.linalg.eigh(matrix)
    return values, vectors


@sequential_vmap
def _cholesky(matrix: Array) -> Array:
    return jnp.linalg.cholesky(matrix)


def inverse_root(matrix: Array) -> Array:
    """R lower triangular with R R^T = X^-1."""
    # With the order of entries reversed, X = U U^T with U upper triangular; R = U^-T.
    return inverse_lower(_cholesky(matrix[::-1, ::-1])).T[::-1, ::-1]


def inverse_lower(lower: Array) -> Array:
    """The inverse of a lower triangle."""
    count = lower.shape[0]
    whole = 1 << (count - 1).bit_length()
    # Filled up to a power of two by an identity.
    rest = jnp.zeros((whole - count,), lower.dtype)
    padded = jnp.pad(lower, (0, whole - count))
    found = 1 / jnp.concatenate([jnp.diagonal(lower), rest + 1])[:, None, None]
    size = 1
    while size < whole:
        first, second = found[::2], found[1::2]
        blocks = padded.reshape(whole // (2 * size), 2 * size, whole // (2 * size), 2 * size)
        below = jnp.einsum("kakb->kab", blocks[:, size:, :, :size])
        corner = -second @ below @ first
        upper = jnp.concatenate([first, jnp.zeros_like(first)], axis=2)
        found = jnp.concatenate([upper, jnp.concatenate([corner, second], axis=2)], axis=1)
        size *= 2
    return found[0, :count, :count]
