"""Inputs, and the labels of those that have one."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from plait.model.bayesian_model import batch_size


class Pool:
    """Inputs that labels can be had for, by their index; those with a label are what a model is trained on.

    `x` is an array with examples on the first axis, or a tuple of such arrays where a model takes several inputs.
    """

    def __init__(self, x: Any):
        self.x = x
        self.size = batch_size(x)
        for leaf in jax.tree.leaves(x):
            if not (eqx.is_array(leaf) or isinstance(leaf, np.ndarray)) or leaf.shape[:1] != (self.size,):
                raise ValueError(
                    f"the pool's inputs must be arrays with its {self.size} examples on the first axis, got "
                    f"{leaf.shape if hasattr(leaf, 'shape') else type(leaf).__name__}"
                )
        self._order: list[int] = []
        self._labels: list[np.ndarray] = []

    @property
    def labelled(self) -> np.ndarray:
        """Indices of the inputs that have a label, in the order in which they got it."""
        return np.asarray(self._order, int)

    @property
    def unlabelled(self) -> np.ndarray:
        """Indices of the others, rising."""
        return np.setdiff1d(np.arange(self.size), self.labelled)

    @property
    def data(self) -> tuple[Any, np.ndarray]:
        """Inputs and labels so far."""
        if not self._order:
            raise ValueError("no input of the pool has a label yet: `add(indices, labels)`")
        return jax.tree.map(lambda leaf: np.asarray(leaf)[self.labelled], self.x), np.stack(self._labels)

    def add(self, indices: Any, labels: Any) -> None:
        """Labels of some inputs: [len(indices), ...]."""
        given, values = np.asarray(indices), np.asarray(labels)
        if given.ndim != 1 or given.dtype.kind not in "iu":
            raise ValueError(f"`indices` are whole numbers [n], got {given.dtype} of shape {given.shape}")
        if values.shape[:1] != given.shape:
            raise ValueError(f"{len(given)} inputs need as many labels on the first axis, got shape {values.shape}")
        outside = [int(index) for index in given if not 0 <= index < self.size]
        if outside:
            raise ValueError(f"the pool has inputs 0..{self.size - 1}, got {outside}")
        known = set(self._order)
        twice = [int(index) for position, index in enumerate(given) if index in known or index in given[:position]]
        if twice:
            raise ValueError(f"these inputs have a label already, or got two: {twice}")
        if self._labels and values.shape[1:] != self._labels[0].shape:
            raise ValueError(f"labels so far have shape {self._labels[0].shape} each, got {values.shape[1:]}")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError("labels must be finite numbers; leave out inputs whose label could not be had")
        self._order += [int(index) for index in given]
        self._labels += list(values)

    def best(self, scores: Any, count: int = 1) -> np.ndarray:
        """The unlabelled inputs of the largest scores, the largest first; `scores` are of all inputs, [size]."""
        values = np.asarray(scores, np.float64)
        if values.shape != (self.size,):
            raise ValueError(f"scores are one for each of the {self.size} inputs of the pool, got shape {values.shape}")
        rest = self.unlabelled
        if isinstance(count, bool) or not 1 <= count <= len(rest):
            raise ValueError(f"asked for {count!r} inputs, and {len(rest)} are without a label")
        if np.isnan(values[rest]).any():
            raise ValueError(f"{int(np.isnan(values[rest]).sum())} scores are not numbers: did training fail?")
        return rest[np.argsort(-values[rest], kind="stable")[:count]]

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<Pool: {self.size:,} inputs, {len(self._order):,} of them with a label>"
