"""The methods by the names of the tables: a posterior family, and what trains it.

All have one hidden layer of ReLU units, N(0, 1) weights and Gamma(6, 6) noise precision, and start at standard
deviation sqrt(1 / N), which is that of A_0 = S_0 = I in the paper's code. Natural gradient has statistics and inverses
at every step; it draws 10 weights a step, and gradients by Adam draw as many.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import optax

from plait import natural
from plait.posterior import Family, MatrixNormal, MeanField, Tied


@dataclass(frozen=True)
class Training:
    """How a method is trained on few data."""

    epochs: int = 1_000
    batch_size: int = 10
    learning_rate: float = 0.01
    """alpha, and Adam's."""
    curvature_rate: float = 0.01
    """beta."""
    drop: float = 0.5
    """The part of training after which both fall to a tenth."""
    num_samples: int = 10
    """Weight samples in one step."""


@dataclass(frozen=True)
class Method:
    """One of them."""

    name: str
    paper: str | None
    """Its column in the paper's tables."""
    family: Callable[[float], Family]
    """By the initial standard deviation."""
    optimizer: Callable[[Training, int], Any]
    """By the number of steps."""
    by_gradients: bool = False


@functools.cache
def _adam(training: Training, steps: int) -> Any:
    return optax.adam(_falling(training.learning_rate, training, steps))


def _natural(kind: Callable[..., Any], **options: Any) -> Callable[[Training, int], Any]:
    # One object for equal options: schedules are functions, and a program is compiled for each of them.
    @functools.cache
    def make(training: Training, steps: int) -> Any:
        return kind(
            learning_rate=_falling(training.learning_rate, training, steps),
            curvature_rate=_falling(training.curvature_rate, training, steps),
            num_samples=training.num_samples,
            statistics_every=1,
            noise=0.05,
            **options,
        )

    return make


def _falling(rate: float, training: Training, steps: int) -> Any:
    return optax.piecewise_constant_schedule(rate, {round(training.drop * steps): 0.1})


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("BBB", "BBB", MeanField, _adam, by_gradients=True),
        Method("k-tied", None, lambda scale: Tied(2, scale), _adam, by_gradients=True),
        Method("matrix normal", None, lambda scale: MatrixNormal(init_scale=scale), _adam, by_gradients=True),
        Method("noisy Adam", None, MeanField, _natural(natural.NoisyAdam)),
        Method("NNG-MVG", "NNG-MVG", MeanField, _natural(natural.NoisyKFAC, inverse_every=1)),
        Method("NNG-MVG exact", None, MeanField, _natural(natural.NoisyKFAC, inverse_every=1, sampler="exact")),
        Method("NNG-BlkTri", "NNG-BlkTri", MeanField, _natural(natural.NoisyBlockTridiagonal, inverse_every=1)),
        Method("NNG-full", None, MeanField, _natural(natural.NoisyFull)),
    )
}
HMC = "HMC"


def find_method(name: str) -> Method:
    """The method of a name, or an error that lists them."""
    if name not in METHODS:
        raise ValueError(f"unknown method {name!r}: known are {', '.join((*METHODS, HMC))}")
    return METHODS[name]
