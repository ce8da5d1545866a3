"""Where batches come from: arrays in memory, or an iterator. Both advance a run from one step to another."""

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import PyTree
from plait.fit.batches import Source, cut_batch, epoch_order, stream
from plait.fit.checks import check_batch
from plait.fit.chunk import State, run_batch, run_steps
from plait.fit.plan import Recipe


class Advance(NamedTuple):
    """How far a run came."""

    state: State
    step: int
    """Below the one asked for only where the data ended."""
    rows: list[tuple[int, np.ndarray]]
    """Means over each epoch that was completed."""


@runtime_checkable
class Feed(Protocol):
    """A source of batches."""

    def advance(self, recipe: Recipe, state: State, step: int, stop: int) -> Advance:
        """Run the steps from one (inclusive) to another (exclusive)."""
        ...

    def batch(self, recipe: Recipe, step: int) -> Any:
        """The batch of a step that has just failed, of the first replica."""
        ...


class InMemory:
    """Arrays on the device."""

    def __init__(self, data: PyTree):
        self._data = data

    def advance(self, recipe: Recipe, state: State, step: int, stop: int) -> Advance:
        bounds = recipe.plan.placement.everywhere((np.asarray(step, np.int32), np.asarray(stop, np.int32)))
        state, rows = run_steps((recipe, self._data, *bounds), state)
        length = recipe.plan.steps_per_epoch
        means = np.array(rows)
        epochs = range(step // length, stop // length)
        return Advance(state, stop, [(epoch, means[epoch - step // length]) for epoch in epochs])

    def batch(self, recipe: Recipe, step: int) -> Any:
        plan, data, key = recipe.plan, self._data, recipe.order_key
        if plan.replicas is not None:
            key = key[0]
            data = jax.tree.map(lambda leaf: leaf[0], data) if plan.data_per_replica else data
        order = epoch_order(key, step // plan.steps_per_epoch, plan.num_examples)
        return cut_batch(data, order, step % plan.steps_per_epoch, plan.batch_size)


class Stream:
    """An iterator of batches."""

    def __init__(self, source: Source):
        self._source = source
        self._batches: Iterator[Any] | None = None
        self._recent: deque[tuple[int, Any, Any]] = deque(maxlen=2)

    def advance(self, recipe: Recipe, state: State, step: int, stop: int) -> Advance:
        plan, begun = recipe.plan, step
        if self._batches is None:
            self._batches = stream(self._source, step)
        while step < stop:
            batch = next(self._batches, None)
            if batch is None:
                break
            check_batch(batch, plan.data_per_replica)
            batch = plan.placement.feed(batch)
            state, failed = run_batch((recipe, batch, jnp.asarray(step, jnp.int32)), state)
            if self._recent and np.all(np.asarray(self._recent[-1][2]) >= 0):
                # Looked at one step late, while the next one runs: the device never waits.
                break
            self._recent.append((step, batch, failed))
            step += 1
        ended = step > begun and step % plan.steps_per_epoch == 0
        rows = [(step // plan.steps_per_epoch - 1, np.array(state.means))] if ended else []
        return Advance(state, step, rows)

    def batch(self, recipe: Recipe, step: int) -> Any:
        batch = next((batch for seen, batch, _ in self._recent if seen == step), None)
        return jax.tree.map(lambda leaf: leaf[0], batch) if recipe.plan.data_per_replica else batch
