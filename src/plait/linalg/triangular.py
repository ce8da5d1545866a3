"""Lower triangles stored without their empty half.

A lower-triangular n x n matrix has n (n + 1) / 2 numbers. They are kept as one rectangle (LAPACK's "rectangular
full packed" idea): the left trapezoid of the triangle as it stands, and the small triangle that remains at the lower
right folded, transposed, into the rectangle's empty corner. Unpacking is then two masks and one transposition instead
of a scatter.

    n = 2 h:      rectangle (n + 1) x h         n = 2 h + 1:  rectangle n x (h + 1)
"""

import jax.numpy as jnp

from plait._typing import Array


def packed_shape(size: int) -> tuple[int, int]:
    """Shape of the rectangle that holds a lower triangle of the given size."""
    half, odd = divmod(size, 2)
    return (size, half + 1) if odd else (size + 1, half)


def unpack_lower(packed: Array, size: int) -> Array:
    """The n x n lower-triangular matrix behind a packed rectangle."""
    half, odd = divmod(size, 2)
    if odd:
        left = jnp.tril(packed)
        corner = jnp.triu(packed[:half, 1:]).T
    else:
        left = jnp.tril(packed[1:])
        corner = jnp.triu(packed[:half]).T
    right = jnp.pad(corner, ((size - half, 0), (0, 0)))
    return jnp.concatenate([left, right], axis=1)


def pack_lower(matrix: Array) -> Array:
    """The inverse of `unpack_lower`; what stands above the diagonal is dropped."""
    size = matrix.shape[0]
    half, odd = divmod(size, 2)
    split = size - half
    corner = jnp.tril(matrix[split:, split:]).T
    if odd:
        left = jnp.tril(matrix[:, :split])
        return left.at[:half, 1:].add(corner)
    left = jnp.pad(jnp.tril(matrix[:, :split]), ((1, 0), (0, 0)))
    return left.at[:half].add(corner)


def lower_root(root: Array) -> Array:
    """The lower triangle L with positive diagonal and L L^T = R R^T, for any root R of at least as many columns."""
    upper = jnp.linalg.qr(root.T, mode="r")
    return upper.T * jnp.sign(jnp.diagonal(upper))[None]
