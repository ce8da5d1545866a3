"""A product under `jax.vmap` whose mapped axis becomes more rows of one matrix product.

    [K, ..., d] . W   as   [K ..., d] . W

JAX's own rule keeps the mapped axis apart. The gradient of W then contracts two axes at once, which XLA lays out badly
on a CPU: a step of a network of dense layers takes twice as long.

It can be differentiated outside the map, not inside: that is what `jax.custom_batching` offers.
"""

from typing import Any

import jax
import jax.numpy as jnp

from plait._typing import Array

Axes = tuple[int, ...]


def merged_product(x: Array, weight: Array, contracted: tuple[Axes, Axes], **options: Any) -> Array:
    """`dot_general` of x and a weight that is not mapped over, without batch axes; the free axes of x lead."""

    def product(x: Array, weight: Array) -> Array:
        return jax.lax.dot_general(x, weight, (contracted, ((), ())), **options)

    @jax.custom_batching.custom_vmap
    def merged(x: Array, weight: Array) -> Array:
        return product(x, weight)

    @merged.def_vmap
    def of_all(size: int, batched: list[bool], x: Array, weight: Array) -> tuple[Array, bool]:
        del size
        if batched != [True, False]:
            axes = [0 if each else None for each in batched]
            return jax.vmap(product, in_axes=axes)(x, weight), True
        ours = tuple(axis + 1 for axis in contracted[0])
        free = tuple(axis for axis in range(x.ndim) if axis not in ours)
        lead, rest = tuple(x.shape[i] for i in free), tuple(x.shape[i] for i in ours)
        rows = jnp.transpose(x, (*free, *ours)).reshape(-1, *rest)
        axes = (tuple(range(1, rows.ndim)), contracted[1])
        y = jax.lax.dot_general(rows, weight, (axes, ((), ())), **options)
        return y.reshape(*lead, *y.shape[1:]), True

    return merged(x, weight)
