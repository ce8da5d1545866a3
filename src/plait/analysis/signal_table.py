"""The signal in gradients as a table: by weight, by group of its numbers, by step; seeds trained side by side averaged.

Groups are what a posterior's arrays are: "means", "log stds" of a mean field (rho, with softplus), "U" and "V" of a
k-tied Normal, and its "stds", the two together: the number that compares with a mean field's.
"""

import math
import os
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from plait._table import Table, write_csv
from plait.analysis.gradient_signal import READINGS, SignalState, Summary

GROUPS = {"mean": "means", "unconstrained": "log stds", "row_log_scale": "U", "column_log_scale": "V"}


@dataclass(frozen=True, eq=False)
class SignalRow:
    """The readings of one group of numbers. Where replicas were trained side by side, arrays lead with them."""

    weight: str
    group: str
    size: int
    """Numbers in the group."""
    mean: np.ndarray
    """[steps, readings], over the numbers of the group."""
    quantiles: np.ndarray
    """[steps, readings, levels]; nan for "stds", whose parts are not kept."""
    constant: np.ndarray
    """[steps]: the share of numbers whose gradients did not vary, which are left out."""


@dataclass(frozen=True, eq=False)
class Signal:
    """What was recorded; `print` it for the readings as the paper has them."""

    steps: tuple[int, ...]
    window: int
    levels: tuple[float, ...]
    rows: tuple[SignalRow, ...]
    replicas: int | None = None

    def row(self, weight: str, group: str) -> SignalRow:
        """One group of one weight."""
        found = {(row.weight, row.group): row for row in self.rows}
        if (weight, group) not in found:
            known = ", ".join(f"{name!r} of {path!r}" for path, name in found)
            raise KeyError(f"no group {group!r} of {weight!r}; there are {known}")
        return found[weight, group]

    def mean(self, weight: str, group: str, reading: str = "printed", *, loss_scale: float = 1.0) -> np.ndarray:
        """A reading at each step, [steps], or with replicas [replicas, steps].

        `loss_scale` is a factor on the loss, N for a sum over the data set where training took the mean per example.
        Only the printed reading depends on it.
        """
        return self.row(weight, group).mean[..., _index(reading)] / (loss_scale**2 if reading == "printed" else 1.0)

    def table(self, reading: str = "printed", *, loss_scale: float = 1.0) -> Table:
        """A column for each step; with replicas the mean over them, and its standard error."""
        rows = []
        for row in self.rows:
            values = self.mean(row.weight, row.group, reading, loss_scale=loss_scale)
            cells = (_cell(values[..., index]) for index in range(len(self.steps)))
            rows.append((row.weight, row.group, f"{row.size:,}", *cells))
        return Table(("weight", "group", "numbers", *(f"step {step:,}" for step in self.steps)), rows, left=2)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """A line for each group, step and reading, and each replica."""
        lines = []
        for row in self.rows:
            for where in np.ndindex(row.constant.shape):
                for index, reading in enumerate(READINGS):
                    replica = {} if self.replicas is None else {"replica": where[0]}
                    line = {"weight": row.weight, "group": row.group, "numbers": row.size}
                    line |= {"step": self.steps[where[-1]], "window": self.window, "reading": reading}
                    line |= {"mean": float(row.mean[(*where, index)]), "constant": float(row.constant[where])}
                    quantiles = zip(self.levels, row.quantiles[(*where, index)], strict=True)
                    lines.append(replica | line | {f"quantile {level:g}": float(value) for level, value in quantiles})
        write_csv(path, lines)

    def __str__(self) -> str:
        return "\n\n".join(f"{reading}\n{self.table(reading).text()}" for reading in READINGS)


def read_signal(state: Any) -> Signal:
    """What `signal_to_noise` recorded, from the state of an optimizer: `fit.state.optimizer`."""
    nodes = jax.tree.leaves(state, is_leaf=lambda node: isinstance(node, SignalState))
    found = [node for node in nodes if isinstance(node, SignalState)]
    if len(found) != 1:
        raise ValueError(
            f"expected the state of an optimizer with one `signal_to_noise`, found {len(found)}: train with "
            "`optimizer=optax.chain(plait.analysis.signal_to_noise(at=...), ...)` and give `fit.state.optimizer`"
        )
    (signal,) = found
    replicas = None if signal.step.ndim == 0 else signal.step.shape[0]
    at, window, levels = (
        np.asarray(part if replicas is None else part[0]) for part in (signal.at, signal.window, signal.levels)
    )
    leaves = jax.tree_util.tree_flatten_with_path(signal.summaries, is_leaf=lambda node: isinstance(node, Summary))[0]
    rows: list[SignalRow] = []
    for where, summary in leaves:
        weight, group = weight_and_group(where)
        rows.append(
            SignalRow(
                weight,
                group,
                int(np.max(np.asarray(summary.size))),
                *(np.asarray(part, np.float64) for part in (summary.mean, summary.quantiles, summary.constant)),
            )
        )
    return Signal(
        tuple(at.tolist()), int(window), tuple(round(float(level), 6) for level in levels), _with_stds(rows), replicas
    )


def _with_stds(rows: list[SignalRow]) -> tuple[SignalRow, ...]:
    """With U and V of each weight also pooled."""
    everything: list[SignalRow] = []
    for row in rows:
        everything.append(row)
        before = everything[-2] if len(everything) > 1 else row
        if row.group == "V" and (before.weight, before.group) == (row.weight, "U"):
            everything.append(_pooled(before, row))
    return tuple(everything)


def _pooled(first: SignalRow, second: SignalRow) -> SignalRow:
    # Each mean is over the numbers that vary.
    counts = [row.size * (1 - row.constant) for row in (first, second)]
    total = counts[0] + counts[1]
    parts = [
        np.where(count[..., None] > 0, count[..., None] * np.nan_to_num(row.mean), 0)
        for row, count in zip((first, second), counts, strict=True)
    ]
    size = first.size + second.size
    known = ~np.isnan(first.constant) & (total > 0)
    mean = np.where(known[..., None], (parts[0] + parts[1]) / np.where(known, total, 1)[..., None], np.nan)
    return SignalRow(first.weight, "stds", size, mean, np.full_like(first.quantiles, np.nan), 1 - total / size)


def weight_and_group(where: tuple[Any, ...]) -> tuple[str, str]:
    """The weight and the group of one array of a model's parameters."""
    if len(where) == 3 and getattr(where[0], "name", None) == "posteriors":
        field = jax.tree_util.keystr(where[2:], simple=True)
        return str(where[1].key), GROUPS.get(field, field)
    return jax.tree_util.keystr(where[:-1], simple=True, separator="/"), jax.tree_util.keystr(where[-1:], simple=True)


def _index(reading: str) -> int:
    if reading not in READINGS:
        raise ValueError(f"`reading` must be one of {', '.join(map(repr, READINGS))}, got {reading!r}")
    return READINGS.index(reading)


def _cell(values: np.ndarray) -> str:
    if values.ndim == 0:
        return f"{float(values):.4g}"
    finite = values[np.isfinite(values)]
    if finite.size < 2:
        return f"{finite[0]:.4g}" if finite.size else "nan"
    return f"{finite.mean():.4g} ± {finite.std(ddof=1) / math.sqrt(finite.size):.2g}"
