"""KL schedules by name, all of which end at one weight: beta_t = weight * schedule_t."""

from dataclasses import dataclass
from typing import Any, Literal

from plait._typing import Scalar
from plait.objective import (
    Schedule,
    constant,
    cyclic_annealing,
    exponential_annealing,
    linear_annealing,
    stepwise_annealing,
)

KLScheduleName = Literal["constant", "linear", "exponential", "stepwise", "cyclic"]
WARMUP = 0.5


@dataclass(frozen=True)
class Scaled(Schedule):
    """Another schedule times a factor."""

    schedule: Schedule
    factor: float

    def __post_init__(self):
        if not 0 <= self.factor < float("inf"):
            raise ValueError(f"`kl_weight` multiplies KL / N and must be at least 0 and finite, got {self.factor!r}")

    def weight(self, step: Any, *, steps_per_epoch: int, total_steps: int) -> Scalar:
        return self.factor * self.schedule.weight(step, steps_per_epoch=steps_per_epoch, total_steps=total_steps)


def make_kl_schedule(name: KLScheduleName, weight: float, warmup: float | None = None) -> Schedule:
    """The schedule; `warmup` is the part of training in which a linear or exponential one rises."""
    if warmup is not None and name not in ("linear", "exponential"):
        raise ValueError(f"`kl_warmup` is an option of the schedules linear and exponential, not of {name!r}")
    fraction = WARMUP if warmup is None else warmup
    schedules = {
        "constant": constant,
        "linear": lambda: linear_annealing(fraction=fraction),
        "exponential": lambda: exponential_annealing(fraction=fraction),
        "stepwise": stepwise_annealing,
        "cyclic": cyclic_annealing,
    }
    return Scaled(schedules[name](), weight)
