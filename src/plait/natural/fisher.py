"""Passes whose gradients g have E[g g^T] equal to the Fisher matrix, or close to it.

    "sampled"     targets drawn from the model: the true Fisher matrix, with noise (paper 004, footnote 1)
    "exact"       a pass for each column b_c of a root of the outputs' Fisher matrix, sum_c b_c b_c^T = F: without noise
    "empirical"   the targets of the data: no Fisher matrix, but the passes are those of the gradient

The columns of different examples have random signs, which g g^T does not see; the square of a sum over examples then
averages to the sum of their squares, as it does for drawn targets.
"""

from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp

from plait._random import signs
from plait._typing import Array, PRNGKey, PyTree
from plait.likelihood import Likelihood
from plait.model import BayesianModel, Recording, record
from plait.natural.curvature import Look

Fisher = Literal["sampled", "exact", "empirical"]
FISHERS = ("sampled", "exact", "empirical")


class Passes:
    """Recording passes of one batch."""

    def __init__(
        self, bnn: BayesianModel, batch: tuple[Any, Array], likelihood: Likelihood, output: Callable[[Any], Array]
    ):
        x, self.y = batch
        self.bnn, self.likelihood, self.output = bnn, likelihood, output
        self.inputs = x if isinstance(x, tuple) else (x,)
        self.examples = self.y.shape[0]

    def data(self, weights: dict[str, Array], key: PRNGKey) -> Recording:
        """At the targets of the data."""
        return self._record(self.inputs, self.y, weights, key, None)

    def average(self, fisher: Fisher, data: Recording, key: PRNGKey, summarise: Callable[[Look], PyTree]) -> PyTree:
        """A summary of the passes of one kind at the weights of a pass over the data."""
        weights = data.weights
        if fisher == "empirical":
            return summarise(self._look(data, self.y, key, None))
        if fisher == "sampled":
            recording = self._record(self.inputs, None, weights, key, None)
            return summarise(self._look(recording, None, key, None))
        observed = jax.eval_shape(lambda: self.output(self.bnn(*self.inputs, key=None)))
        count = jax.eval_shape(self.likelihood.fisher_root, observed).shape[0]
        keys = jax.random.split(key, count)

        def one(column: Array, key: PRNGKey) -> PyTree:
            def pull(outputs: Array) -> Array:
                sign = signs(key, (outputs.shape[0],), outputs.dtype)[:, None]
                # The mean over columns is to be their sum.
                return count**0.5 * sign * self.likelihood.fisher_root(outputs)[column].astype(outputs.dtype)

            recording = self._record(self.inputs, None, weights, key, pull)
            return summarise(self._look(recording, None, key, pull))

        return jax.tree.map(lambda leaf: jnp.mean(leaf, axis=0), jax.vmap(one)(jnp.arange(count), keys))

    def _record(
        self, inputs: tuple[Any, ...], y: Array | None, weights: dict[str, Array], key: PRNGKey, pull: Any
    ) -> Recording:
        return record(
            self.bnn,
            *inputs,
            likelihood=self.likelihood,
            key=key,
            y=y,
            weights=weights,
            output=self.output,
            pull=pull,
        )

    def _look(self, recording: Recording, y: Array | None, key: PRNGKey, pull: Any) -> Look:
        def each() -> dict[str, Array]:
            def one(inputs: tuple[Any, ...], y: Array | None, key: PRNGKey) -> dict[str, Array]:
                inputs, y = jax.tree.map(lambda leaf: leaf[None], (inputs, y))
                return self._record(inputs, y, recording.weights, key, pull).weight_gradients

            keys = jax.random.split(key, self.examples)
            return jax.vmap(one, in_axes=(0, None if y is None else 0, 0))(self.inputs, y, keys)

        return Look(recording, self.examples, each)
