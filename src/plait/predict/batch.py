"""One batch of examples and the members of its predictive distribution: member s depends on s and on nothing else."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax

from plait._typing import Array
from plait.likelihood import Likelihood
from plait.model import BayesianModel
from plait.predict.moments import Moments
from plait.predict.source import Keys

DRAWN = ("regression", "counts")
"""Tasks in which targets are drawn: their quantiles mean something."""


class Members(eqx.Module):
    """What one weight sample says of a batch, for each component."""

    outputs: Array
    """[components, N, ...]."""
    targets: Array | None
    """If wanted, one target drawn from each."""


class Batch(eqx.Module):
    """Everything that members of one batch are made of."""

    bnn: BayesianModel
    likelihood: Likelihood
    inputs: tuple[Any, ...]
    y: Array | None
    keys: Keys | None
    index: Array
    folds_batches: bool = eqx.field(static=True)
    draws_targets: bool = eqx.field(static=True)
    output: Callable[[Any], Array] = eqx.field(static=True)

    def members(self, sample: Array) -> Members:
        """Those of one weight sample."""
        key = None
        if self.keys is not None:
            key = jax.random.fold_in(self.keys.weights, sample)
            key = jax.random.fold_in(key, self.index) if self.folds_batches else key
        outputs = self.output(self.bnn(*self.inputs, key=key))
        outputs = outputs if self.bnn.components is not None else outputs[None]
        if self.keys is None or not self.draws_targets:
            return Members(outputs, None)
        noise = jax.random.fold_in(jax.random.fold_in(self.keys.noise, sample), self.index)
        return Members(outputs, self.likelihood.sample(noise, outputs))

    def moments(self, members: Members) -> Moments:
        """The moments of some members."""
        return Moments.of(self.likelihood, members.outputs, self.y, members.targets)


@eqx.filter_jit
def no_moments(batch: Batch) -> Moments:
    """Before the first sample."""
    return Moments.empty(jax.eval_shape(batch.moments, jax.eval_shape(batch.members, jnp.asarray(0))))


@eqx.filter_jit
def gather(
    batch: Batch, moments: Moments, start: Array, stop: Array, *, chunk: int | None, keep: bool
) -> tuple[Moments, Members | None]:
    """Add the samples start .. stop - 1, at most `chunk` of them, in a loop; without `chunk` add `start` alone.

    If asked for, with the members, [samples, components, N, ...].
    """
    if chunk is None:
        members = batch.members(start)
        kept = jax.tree.map(lambda leaf: leaf[None], members) if keep else None
        return moments.merge(batch.moments(members)), kept

    def step(sample: Array, carry: tuple[Moments, Members | None]) -> tuple[Moments, Members | None]:
        moments, kept = carry
        members = batch.members(sample)
        if kept is not None:
            kept = jax.tree.map(lambda room, leaf: room.at[sample - start].set(leaf), kept, members)
        return moments.merge(batch.moments(members)), kept

    kept = None
    if keep:
        shapes = jax.eval_shape(batch.members, start)
        kept = jax.tree.map(lambda leaf: jnp.zeros((chunk, *leaf.shape), leaf.dtype), shapes)
    return lax.fori_loop(start, stop, step, (moments, kept))
