"""A product over a short inner dimension: y[..., j] = sum_r f[..., r] c[r, j] for a handful of r.

A matrix product of so few terms is bound by memory, and its result would be written out only to be read again by the
next elementwise operation. Written as a sum of outer products it fuses with that operation. The derivatives sum over
long dimensions: they stay matrix products.
"""

import functools
import operator

import jax

from plait._typing import Array, Float

LONGEST = 8
"""Terms beyond which a matrix product is the faster way."""


def skinny_product(features: Float[Array, "*n r"], columns: Float[Array, "r m"]) -> Float[Array, "*n m"]:
    """features @ columns."""
    return _sum_of_outer_products(features, columns) if columns.shape[0] <= LONGEST else features @ columns


@jax.custom_jvp
def _sum_of_outer_products(features: Array, columns: Array) -> Array:
    lead = (1,) * (features.ndim - 1)
    terms = [features[..., r, None] * columns[r].reshape(*lead, -1) for r in range(columns.shape[0])]
    return functools.reduce(operator.add, terms)


@_sum_of_outer_products.defjvp
def _sum_of_outer_products_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    features, columns = primals
    return _sum_of_outer_products(features, columns), tangents[0] @ columns + features @ tangents[1]
