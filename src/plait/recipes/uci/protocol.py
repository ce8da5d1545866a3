"""How paper 004 trains on the UCI regressions (MATH 3.2), as a value."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import optax

from plait.data.sets.uci import SETS

SMALL = ("boston", "concrete", "energy", "kin8nm", "naval", "power", "wine", "yacht")
"""The sets of the column that is to take less than 40 minutes."""


@dataclass(frozen=True)
class Protocol:
    """Sizes and rates; the defaults are the paper's."""

    sets: tuple[str, ...] = (*SMALL, "protein")
    methods: tuple[str, ...] | None = None
    """By their names in `METHODS`; None for all of them."""
    layers: tuple[int, ...] = (1, 2)
    """Hidden layers."""
    splits: int | None = None
    """Of each set, so many at most."""
    epochs: int | None = None
    """None for 1000, and 500 for protein; PBP has its own 40."""
    pbp_epochs: int = 40

    train_samples: int = 10
    """Weight samples in a step."""
    test_samples: int = 100
    """Weight samples in predictions. The paper's code says 100 and feeds 10."""
    learning_rate: float = 0.01
    """alpha of natural gradients, and of Adam in the methods that follow gradients; a tenth from half time on."""
    curvature_rate: float = 0.001
    """beta for each step; a tenth from half time on."""
    curvature_every: int = 10
    """Steps from one batch that enters the curvature to the next, and from one decomposition to the next: T_stats and
    T_inv, which the paper leaves open. Each then counts for as many steps."""
    prior_variance: float = 1.0
    """eta."""
    noise_shape: float = 6.0
    noise_rate: float = 6.0
    """Of the Gamma prior on the noise precision of standardised targets."""
    ensemble: int = 5
    """Members of a deep ensemble."""
    dropout: float = 0.05
    """The probability that an input of a layer is dropped."""

    def width(self, name: str) -> int:
        """Units in a hidden layer."""
        return 100 if name == "protein" else 50

    def epochs_of(self, name: str) -> int:
        """Passes over the data."""
        return (500 if name == "protein" else 1000) if self.epochs is None else self.epochs

    def batch_size(self, name: str) -> int:
        """10 for the sets with fewer than 2000 examples, else 100."""
        return 10 if SETS[name][1] < 2000 else 100

    def splits_of(self, name: str) -> int:
        """How many of its splits."""
        known = SETS[name][3]
        return known if self.splits is None else min(self.splits, known)

    def alpha(self, total_steps: int) -> Callable[[Any], Any]:
        """The learning rate by step."""
        return _dropped(self.learning_rate, total_steps)

    def beta(self, total_steps: int) -> Callable[[Any], Any]:
        """The rate of the curvature, for a batch that stands for `curvature_every` steps."""
        return _dropped(1 - (1 - self.curvature_rate) ** self.curvature_every, total_steps)


def _dropped(rate: float, total_steps: int) -> Callable[[Any], Any]:
    return optax.piecewise_constant_schedule(rate, {total_steps // 2: 0.1})
