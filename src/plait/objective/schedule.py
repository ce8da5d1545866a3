"""KL weights beta_t over the steps t = 0, 1, ... of training. A schedule is a value: it may live inside a scan.

    constant       beta_t = value
    linear         beta_t = start + (end - start) min(1, t / T)
    stepwise       beta_t = min(1, c m floor(t / m))                                   paper 000 (MATH 1.2)
    exponential    beta_t = start^(1 - min(1, t / T)): equal factors in equal times    paper 002 names no form
    cyclic         beta_t = min(1, r_t / R), r_t the fraction done of the current cycle     Fu et al. 2019

T is given in steps, in epochs, or as a fraction of training.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, TypeAlias

import jax.numpy as jnp

from plait._typing import Scalar

Number: TypeAlias = int | float


class Schedule(ABC):
    """A KL weight for each step."""

    @abstractmethod
    def weight(self, step: Any, *, steps_per_epoch: int, total_steps: int) -> Scalar:
        """The weight at a step, which counts from 0 and may be traced."""


@dataclass(frozen=True)
class Span:
    """A time in steps, in epochs or as a fraction of training: one of the three."""

    steps: Number | None = None
    epochs: Number | None = None
    fraction: Number | None = None

    def __post_init__(self):
        given = {name: value for name, value in vars(self).items() if value is not None}
        if len(given) != 1:
            raise ValueError(
                "say how long annealing takes by one of `steps=`, `epochs=` and `fraction=` (of training), got "
                + (" and ".join(given) or "none")
            )
        ((name, value),) = given.items()
        if not 0 < value < math.inf:
            raise ValueError(f"annealing needs `{name}` above 0, got {value!r}; for no annealing use plait.constant(1)")
        if name == "fraction" and value > 1:
            raise ValueError(f"`fraction` is a part of training, at most 1, got {value!r}; use `epochs=` or `steps=`")

    def done(self, step: Any, steps_per_epoch: int, total_steps: int) -> Scalar:
        """The fraction of this time that has passed, at most 1."""
        if self.steps is not None:
            length = self.steps
        elif self.epochs is not None:
            length = self.epochs * steps_per_epoch
        else:
            assert self.fraction is not None
            length = self.fraction * total_steps
        return jnp.minimum(_real(step) / length, 1)


@dataclass(frozen=True)
class Constant(Schedule):
    """The same weight at every step."""

    value: Number = 1.0

    def __post_init__(self):
        _check_weight("value", self.value)

    def weight(self, step: Any, *, steps_per_epoch: int, total_steps: int) -> Scalar:
        del step, steps_per_epoch, total_steps
        return _real(self.value)


@dataclass(frozen=True)
class Linear(Schedule):
    """A straight line, then its end."""

    span: Span
    start: Number = 0.0
    end: Number = 1.0

    def __post_init__(self):
        _check_weight("start", self.start)
        _check_weight("end", self.end)

    def weight(self, step: Any, *, steps_per_epoch: int, total_steps: int) -> Scalar:
        return self.start + (self.end - self.start) * self.span.done(step, steps_per_epoch, total_steps)


@dataclass(frozen=True)
class Stepwise(Schedule):
    """A staircase that rises by `coefficient * every` every `every` steps, up to 1."""

    coefficient: Number = 5e-5
    every: int = 100

    def __post_init__(self):
        if not 0 < self.coefficient < math.inf:
            raise ValueError(f"`coefficient` is the rise for one step and must be positive, got {self.coefficient!r}")
        if self.every < 1:
            raise ValueError(f"`every` is a number of steps and must be at least 1, got {self.every!r}")

    def weight(self, step: Any, *, steps_per_epoch: int, total_steps: int) -> Scalar:
        del steps_per_epoch, total_steps
        return jnp.minimum(self.coefficient * _real(step // self.every * self.every), 1)


@dataclass(frozen=True)
class Exponential(Schedule):
    """Grows from `start` to 1 by equal factors in equal times."""

    span: Span
    start: Number = 1e-3

    def __post_init__(self):
        if not 0 < self.start <= 1:
            raise ValueError(f"`start` is the first weight and must lie in (0, 1], got {self.start!r}")

    def weight(self, step: Any, *, steps_per_epoch: int, total_steps: int) -> Scalar:
        return jnp.exp(math.log(self.start) * (1 - self.span.done(step, steps_per_epoch, total_steps)))


@dataclass(frozen=True)
class Cyclic(Schedule):
    """Training cut into `cycles`; in each the weight rises from 0 during its first part, `rising`, and stays at 1."""

    cycles: int = 4
    rising: Number = 0.5

    def __post_init__(self):
        if self.cycles < 1:
            raise ValueError(f"`cycles` must be at least 1, got {self.cycles!r}")
        if not 0 < self.rising <= 1:
            raise ValueError(f"`rising` is a part of a cycle and must lie in (0, 1], got {self.rising!r}")

    def weight(self, step: Any, *, steps_per_epoch: int, total_steps: int) -> Scalar:
        del steps_per_epoch
        # Rounded up to whole steps, so that no cycle begins just before the end.
        length = -(-total_steps // self.cycles)
        return jnp.minimum(_real(step % length) / (length * self.rising), 1)


def constant(value: Number = 1.0) -> Schedule:
    """The same weight throughout."""
    return Constant(value)


def linear_annealing(
    *,
    steps: Number | None = None,
    epochs: Number | None = None,
    fraction: Number | None = None,
    start: Number = 0.0,
    end: Number = 1.0,
) -> Schedule:
    """From `start` to `end` in a straight line, during so many steps, epochs, or such a fraction of training."""
    return Linear(Span(steps, epochs, fraction), start, end)


def stepwise_annealing(coefficient: Number = 5e-5, every: int = 100) -> Schedule:
    """min(1, coefficient * every * floor(t / every)), the staircase of the k-tied experiments."""
    return Stepwise(coefficient, every)


def exponential_annealing(
    *,
    steps: Number | None = None,
    epochs: Number | None = None,
    fraction: Number | None = None,
    start: Number = 1e-3,
) -> Schedule:
    """From `start` to 1 by equal factors, during so many steps, epochs, or such a fraction of training."""
    return Exponential(Span(steps, epochs, fraction), start)


def cyclic_annealing(cycles: int = 4, rising: Number = 0.5) -> Schedule:
    """Training in cycles, in each of which the weight rises from 0 during its first part and then stays at 1."""
    return Cyclic(cycles, rising)


def _check_weight(name: str, value: Number) -> None:
    if not 0 <= value < math.inf:
        raise ValueError(f"`{name}` is a KL weight and must be at least 0 and finite, got {value!r}")


def _real(value: Any) -> Scalar:
    return jnp.asarray(value, float)
