"""How long a run is, from what the user says about data, batches and epochs."""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import jax

from plait.fit.batches import Source
from plait.fit.checks import check_batch, check_pair
from plait.fit.placement import Placement
from plait.fit.plan import Plan


@dataclass(frozen=True, eq=False)
class Made:
    """A plan and where its batches come from."""

    plan: Plan
    source: Source
    """Of batches, where there are no arrays."""
    sample: Any
    """A batch, or all of the arrays."""

    @property
    def settings(self) -> dict[str, Any]:
        """What a run that is resumed must have in common with the one it goes on with."""
        names = ("dataset_size", "batch_size", "steps_per_epoch", "replicas")
        return {name: getattr(self.plan, name) for name in names}


def make_plan(
    data: Any,
    epochs: int | None,
    steps: int | None,
    batch_size: int | None,
    dataset_size: int | None,
    accumulate: int,
    replicas: int | None,
    data_per_replica: bool,
    placement: Placement,
) -> Made:
    """The plan of a run, or an error that says what does not fit."""
    if (epochs is None) == (steps is None):
        raise ValueError("say how long to train by one of `epochs=` and `steps=`")
    counts = {"epochs": epochs, "steps": steps, "dataset_size": dataset_size, "accumulate": accumulate}
    for name, value in counts.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ValueError(f"`{name}` must be a positive integer, got {value!r}")
    if placement.mesh is not None and replicas is not None:
        raise ValueError("a mesh shares the batches of one model between devices; leave `mesh` or `replicas` out")
    in_memory = isinstance(data, tuple)
    if in_memory:
        examples = check_pair(data, "data", replicas if data_per_replica else None)
        size, source, sample = _check_batch_size(batch_size, examples), (), data
        dataset_size, length = examples if dataset_size is None else dataset_size, examples // size
    else:
        if batch_size is not None:
            raise ValueError("`batch_size` is for arrays; an iterable of batches decides it by itself")
        if dataset_size is None:
            raise ValueError(
                "`dataset_size`, the number of training examples that the KL is spread over, cannot be seen from an "
                "iterable of batches: pass it"
            )
        source, sample = _peek(data)
        check_batch(sample, data_per_replica)
        size = jax.tree.leaves(sample)[0].shape[1 if data_per_replica else 0]
        size *= jax.process_count() if placement.mesh is not None else 1
        examples, length = 0, len(data) if hasattr(data, "__len__") else max(1, dataset_size // size)
    for what, parts in (("`accumulate`", accumulate), ("the devices of the mesh", placement.shards)):
        if size % parts:
            raise ValueError(f"a batch of {size} examples cannot be cut into {parts} equal parts for {what}")
    total = epochs * length if epochs is not None else steps
    assert total is not None
    plan = Plan(dataset_size, size, examples, length, total, replicas, data_per_replica, placement)
    return Made(plan, source, sample)


def _check_batch_size(batch_size: int | None, examples: int) -> int:
    if batch_size is None:
        raise ValueError(f"`batch_size` is required with arrays; it can be up to all {examples} examples")
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"`batch_size` must be a positive integer, got {batch_size!r}")
    if batch_size > examples:
        raise ValueError(f"`batch_size` {batch_size} is larger than the data, which has {examples} examples")
    return batch_size


def _peek(data: Any) -> tuple[Any, Any]:
    """The source, and its first batch."""
    given = data(0) if callable(data) else data
    if not isinstance(given, Iterable):
        raise TypeError(
            "`data` must be arrays `(x, y)`, an iterable of batches, or a function from the number of a pass to one; "
            f"got {type(given).__name__}"
        )
    batches = iter(given)
    first = next(batches, None)
    if first is None:
        raise ValueError("`data` gave no batches")
    return (itertools.chain([first], batches) if isinstance(data, Iterator) else data), first
