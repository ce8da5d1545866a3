"""Stopping when the validation data says so, and the weights that were best by then."""

import math
from dataclasses import dataclass

from plait.model import BayesianModel


@dataclass(frozen=True)
class EarlyStopping:
    """Stop after `patience` looks at the validation data without an improvement; the best weights are given back.

    `patience=None` never stops and only keeps the best.
    """

    patience: int | None = 10
    monitor: str = "negative_elbo"
    """Of the validation data: "negative_elbo" or "nll"."""
    min_delta: float = 0.0
    """What counts as an improvement."""

    def __post_init__(self):
        if self.patience is not None and (isinstance(self.patience, bool) or self.patience < 1):
            raise ValueError(f"`patience` is a number of looks and must be at least 1, got {self.patience!r}")
        if self.monitor not in ("negative_elbo", "nll"):
            raise ValueError(f"`monitor` must be 'negative_elbo' or 'nll', got {self.monitor!r}")


@dataclass
class Best:
    """The best model so far."""

    rule: EarlyStopping
    bnn: BayesianModel
    value: float = math.inf
    step: int = 0
    waited: int = 0
    """Looks since then."""

    def is_improved_by(self, value: float) -> bool:
        """Note one more look; whether it is the best so far. A value that is not a number never is."""
        self.waited += 1
        return value < self.value - self.rule.min_delta

    @property
    def exhausted(self) -> bool:
        return self.rule.patience is not None and self.waited >= self.rule.patience
