"""Which examples make up which batch, from arrays and from iterators.

From arrays: each epoch e goes through a permutation drawn from fold_in(key, e), in batches of one size; the examples
that are left over at its end wait for the next permutation. A step's batch thus depends on the key and the step alone.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from typing import Any

import jax

from plait._typing import Array, PRNGKey, PyTree


def epoch_order(key: PRNGKey, epoch: Any, size: int) -> Array:
    """The order of the examples in an epoch."""
    return jax.random.permutation(jax.random.fold_in(key, epoch), size)


def cut_batch(data: PyTree, order: Array, position: Any, batch_size: int) -> PyTree:
    """The batch at a position of an epoch."""
    rows = jax.lax.dynamic_slice_in_dim(order, position * batch_size, batch_size)
    return jax.tree.map(lambda leaf: leaf.at[rows].get(mode="promise_in_bounds"), data)


Source = Iterable[Any] | Callable[[int], Iterable[Any]]
"""Batches; or a function that gives them for pass 0, 1, ... over the data."""


def stream(source: Source, start: int) -> Iterator[Any]:
    """Batches from a step on. An iterator ends where it ends; anything else is gone through again and again."""
    return islice(_endless(source), start, None)


def _endless(source: Source) -> Iterator[Any]:
    if isinstance(source, Iterator):
        yield from source
        return
    for epoch in count():
        empty = True
        for batch in source(epoch) if callable(source) else source:
            empty = False
            yield batch
        if empty:
            raise ValueError(
                f"the data gave no batches in pass {epoch}; an iterator that can run once is passed itself"
            )
