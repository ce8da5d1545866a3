"""Predictions in memory that does not grow with the number of weight samples.

One compiled program draws the members of a batch one after the other and keeps their `Moments`; which samples it draws
is an argument of it. Members themselves are kept only where they are asked for.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array
from plait.predict.batch import DRAWN, Batch, Members, gather, no_moments
from plait.predict.inputs import rows_of, take
from plait.predict.moments import Moments
from plait.predict.progress_bar import progress_bar
from plait.predict.quantiles import predictive_quantiles
from plait.predict.source import Source

CHUNK = 10
"""Samples in one run of the program, between which progress is shown."""


@dataclass(frozen=True, eq=False)
class Streamed:
    """What was gathered over all batches, on the host."""

    groups: list[Moments]
    """The moments of each group of samples, in order."""
    outputs: np.ndarray | None
    """If kept, the model's outputs for each member, [S, N, ...]."""
    targets: np.ndarray | None
    """If kept, one target drawn from each member, [S, N, ...]."""
    quantiles: np.ndarray | None
    """If asked for, [levels, N, ...]."""


def stream(
    source: Source,
    *,
    y: np.ndarray | None = None,
    keep: bool = False,
    levels: tuple[float, ...] = (),
    groups: int = 1,
    progress: bool | None = False,
) -> Streamed:
    """Run all samples over all batches; the samples of different groups are gathered apart."""
    keeps = keep or bool(levels)
    # Draws of counts are expensive, and serve quantiles alone.
    draws = source.likelihood.task in DRAWN if keeps else y is not None and source.likelihood.task == "regression"
    chunk = CHUNK if source.loops else None
    spans = _spans(source.num_samples, groups, chunk or 1)
    moments: list[list[Moments]] = [[] for _ in range(groups)]
    kept: list[Members] = []
    quantiles: list[np.ndarray] = []
    with progress_bar("predicting", source.num_batches * sum(map(len, spans)), progress) as advance:
        for index in range(source.num_batches):
            rows = rows_of(index, source.batch_size, source.num_examples)
            real = min(source.batch_size, source.num_examples - index * source.batch_size)
            inputs, targets = take((source.inputs, y), rows)
            batch = Batch(
                *(source.bnn, source.likelihood, inputs, targets, source.keys, jnp.asarray(index)),
                *(source.folds_batches, draws, source.output),
            )
            nothing = no_moments(batch)
            members: list[Members] = []
            for group, parts in enumerate(spans):
                found = nothing
                for start, stop in parts:
                    ends = jnp.asarray(start), jnp.asarray(stop)
                    found, some = gather(batch, found, *ends, chunk=chunk, keep=keeps)
                    if some is not None:
                        members.append(_on_host(some, stop - start, real))
                    jax.block_until_ready(found.count)
                    advance()
                moments[group].append(_trim(found, real))
            if levels:
                quantiles.append(predictive_quantiles(_join(members, 0).targets, levels))
            if keep:
                kept.append(_join(members, 0))
    everything = _join(kept, 1) if keep else None
    return Streamed(
        [_join(parts, 0) for parts in moments],
        None if everything is None else everything.outputs,
        None if everything is None else everything.targets,
        np.concatenate(quantiles, axis=1) if quantiles else None,
    )


def _spans(num_samples: int, groups: int, size: int) -> list[list[tuple[int, int]]]:
    """For each group, the samples (start, stop) of each run of the program."""
    edges = [num_samples * group // groups for group in range(groups + 1)]
    return [[(start, min(start + size, last)) for start in range(first, last, size)] for first, last in pairwise(edges)]


def _on_host(members: Members, num_samples: int, num_examples: int) -> Members:
    """[samples, components, N, ...] as [samples * components, N, ...], without what only fills up."""

    def one(leaf: Array) -> np.ndarray:
        return np.asarray(leaf)[:num_samples, :, :num_examples].reshape(-1, num_examples, *leaf.shape[3:])

    return jax.tree.map(one, members)


def _trim(moments: Moments, num_examples: int) -> Moments:
    """The moments of the real examples, on the host."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:num_examples] if leaf.ndim else np.asarray(leaf), moments)


def _join(parts: list[Any], axis: int) -> Any:
    """The parts along an axis; the count of members has none and is the same in all."""
    return jax.tree.map(lambda *leaves: np.concatenate(leaves, axis) if leaves[0].ndim else leaves[0], *parts)
