"""Rules that say which weights of a posterior are zero.

    log alpha = log(Var / M^2)         >= 3 means zero: noise of four and a half times the weight (the threshold of
                                       the field; paper 002 does not state its own, MATH 4.2)
    signal to noise = |M| / sqrt(Var)  = exp(-log alpha / 2)

Of a row, a channel or a column, M^2 and Var are sums over its weights: a few very noisy ones condemn them all, which is
why rules look at single weights unless told otherwise; a row or column goes when nothing of it is left. A rule may look
at several of these grains; a weight stays if it stays in all of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import jax.numpy as jnp
import numpy as np

from plait._typing import Array
from plait.site import Layout

Grain = Literal["weights", "rows", "channels", "columns"]
"""Single weights, or groups of them: fan-in units (channels times taps), whole input channels, fan-out units."""


class Moments(NamedTuple):
    """What a rule sees of one weight."""

    square: Array
    """M^2."""
    variance: Array
    layout: Layout

    def pooled(self, grain: Grain) -> tuple[Array, Array]:
        """M^2 and Var summed over each group, broadcastable against the refined weight."""
        atoms = {
            "weights": self.layout.atoms,
            "rows": self.layout.rows,
            "channels": self.layout.units or self.layout.rows,
            "columns": self.layout.columns,
        }[grain]
        return self.layout.pool(self.square, atoms), self.layout.pool(self.variance, atoms)

    def fold(self, groups: Array) -> np.ndarray:
        """A value for each group, at each of its weights."""
        sizes = tuple(atom.size for atom in self.layout.atoms)
        return np.asarray(self.layout.fold(jnp.broadcast_to(groups, sizes)))


@dataclass(frozen=True)
class Rule(ABC):
    """Which weights to keep."""

    @property
    @abstractmethod
    def grains(self) -> tuple[Grain, ...]:
        """What it looks at."""

    @abstractmethod
    def keep(self, weights: Mapping[str, Moments], grains: Mapping[str, tuple[Grain, ...]]) -> dict[str, np.ndarray]:
        """Booleans in the shape of each weight, for all that share the rule; `grains` is what to look at in each."""


@dataclass(frozen=True)
class LogAlpha(Rule):
    """Zero where log(Var / M^2) reaches the threshold."""

    threshold: float = 3.0
    of: tuple[Grain, ...] = ("weights",)

    def __post_init__(self):
        _check_grains(self.of)
        _check_number(self.threshold, "threshold", "LogAlpha")

    @property
    def grains(self) -> tuple[Grain, ...]:
        return self.of

    def keep(self, weights: Mapping[str, Moments], grains: Mapping[str, tuple[Grain, ...]]) -> dict[str, np.ndarray]:
        def one(moments: Moments, grain: Grain) -> np.ndarray:
            square, variance = moments.pooled(grain)
            # Without noise there is no reason for zero; without signal, but with noise, there is.
            return moments.fold((variance == 0) | (jnp.log(variance) - jnp.log(square) < self.threshold))

        return _in_all(one, weights, grains)


@dataclass(frozen=True)
class SignalToNoise(Rule):
    """Zero where |M| / sqrt(Var) does not exceed the threshold."""

    threshold: float
    of: tuple[Grain, ...] = ("weights",)

    def __post_init__(self):
        _check_grains(self.of)
        _check_number(self.threshold, "threshold", "SignalToNoise")
        if self.threshold < 0:
            raise ValueError(f"SignalToNoise: `threshold` must be at least 0, got {self.threshold!r}")

    @property
    def grains(self) -> tuple[Grain, ...]:
        return self.of

    def keep(self, weights: Mapping[str, Moments], grains: Mapping[str, tuple[Grain, ...]]) -> dict[str, np.ndarray]:
        def one(moments: Moments, grain: Grain) -> np.ndarray:
            square, variance = moments.pooled(grain)
            return moments.fold((variance == 0) | (square > self.threshold**2 * variance))

        return _in_all(one, weights, grains)


@dataclass(frozen=True)
class Budget(Rule):
    """Keep a fraction of the weights, rows, channels or columns: those of the largest score.

    The score is the signal to noise or the magnitude, |M| or its root mean square over a group. The fraction is of all
    layers together, or with `per_layer=True` of each.
    """

    keep_fraction: float
    of: Grain = "weights"
    score: Literal["signal_to_noise", "magnitude"] = "signal_to_noise"
    per_layer: bool = False

    def __post_init__(self):
        _check_grains((self.of,))
        _check_number(self.keep_fraction, "keep_fraction", "Budget")
        if not 0 < self.keep_fraction <= 1:
            raise ValueError(f"Budget: `keep_fraction` must lie in (0, 1], got {self.keep_fraction!r}")
        if self.score not in ("signal_to_noise", "magnitude"):
            raise ValueError(f"Budget: `score` must be 'signal_to_noise' or 'magnitude', got {self.score!r}")

    @property
    def grains(self) -> tuple[Grain, ...]:
        return (self.of,)

    def keep(self, weights: Mapping[str, Moments], grains: Mapping[str, tuple[Grain, ...]]) -> dict[str, np.ndarray]:
        scored = {path: moments for path, moments in weights.items() if grains[path]}
        scores = {path: self._score(moments) for path, moments in scored.items()}
        together = None if self.per_layer or not scores else np.concatenate([np.ravel(s) for s in scores.values()])
        kept = {path: np.ones(moments.square.shape, bool) for path, moments in weights.items()}
        for path, values in scores.items():
            least = _least_kept(np.ravel(values) if together is None else together, self.keep_fraction)
            kept[path] = weights[path].fold(jnp.asarray(values >= least))
        return kept

    def _score(self, moments: Moments) -> np.ndarray:
        square, variance = moments.pooled(self.of)
        if self.score == "magnitude":
            return np.asarray(square) * (square.size / moments.square.size)
        # Without noise there is nothing better, unless there is nothing at all: a zero, masked before.
        certain = jnp.where(square > 0, jnp.inf, -jnp.inf)
        return np.asarray(jnp.where(variance > 0, square / jnp.where(variance > 0, variance, 1), certain))


def _least_kept(scores: np.ndarray, fraction: float) -> Any:
    """The least score among the largest ones that make up a fraction, at least one."""
    count = max(1, round(fraction * scores.size))
    return np.partition(scores, scores.size - count)[scores.size - count]


def _in_all(one: Any, weights: Mapping[str, Moments], grains: Mapping[str, tuple[Grain, ...]]) -> dict[str, np.ndarray]:
    kept = {path: np.ones(moments.square.shape, bool) for path, moments in weights.items()}
    for path, moments in weights.items():
        for grain in grains[path]:
            kept[path] &= one(moments, grain)
    return kept


def _check_grains(grains: Any) -> None:
    known = get_args(Grain)
    if not isinstance(grains, tuple) or not grains or any(grain not in known for grain in grains):
        raise ValueError(f"`of` must name some of {', '.join(map(repr, known))}, got {grains!r}")


def _check_number(value: Any, name: str, owner: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        raise ValueError(f"{owner}: `{name}` must be a number, got {value!r}")
