"""What happened in active learning, a round for each model that was trained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from plait._table import Table


@dataclass(frozen=True, eq=False)
class Round:
    """A model, what it scored, and what was asked for because of it."""

    num_labelled: int
    """Labels that the model was trained with."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    asked: np.ndarray | None = None
    """Indices into the pool; None where nothing was asked for."""
    scores: np.ndarray | None = None
    """Of these inputs, by the acquisition function."""


def rounds_table(rounds: Sequence[Round]) -> Table:
    """A row for each."""
    names = list(dict.fromkeys(name for one in rounds for name in one.metrics))
    rows = []
    for number, one in enumerate(rounds, 1):
        scores = "" if one.scores is None else f"{float(np.max(one.scores)):.4g}"
        metrics = [f"{one.metrics[name]:.4g}" if name in one.metrics else "" for name in names]
        rows.append((str(number), f"{one.num_labelled:,}", *metrics, scores))
    return Table(("round", "labels", *names, "best score"), rows, left=0)
