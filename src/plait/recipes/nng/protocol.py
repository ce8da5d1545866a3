"""What the studies of few data say (paper 004, sections 5.2, 5.4 and C.2; MATH 3.5), as a value.

The paper gives the net, how many data, and that all methods share net and prior. Neither how long HMC ran, nor how many
trials there were in active learning, nor a training of few data beyond that of UCI: these are ours.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

from plait.recipes.nng.methods import Training
from plait.recipes.nuts import Sampling

SETS = ("boston", "concrete", "energy", "kin8nm", "naval", "power", "wine", "yacht")


@dataclass(frozen=True)
class Protocol:
    """One study of regressions with few labels."""

    sets: tuple[str, ...] = SETS
    methods: tuple[str, ...] = ()
    trials: int = 10
    """Random choices of labelled and other points."""
    num_labelled: int = 20
    num_others: int = 100
    """Points whose predictive variances are compared; in active learning the test data."""
    acquisitions: int = 0
    """Labels asked for in active learning."""
    hidden: int = 10
    """ReLU units in the one hidden layer."""
    training: Training = dataclasses.field(default_factory=Training)
    sampling: Sampling = dataclasses.field(default_factory=Sampling)
    num_samples: int = 2_000
    """Functions that a predictive variance is of."""

    def settings(self, **more: Any) -> dict[str, Any]:
        """What a part of the study depends on, whatever other sets and methods it has."""
        given = dataclasses.asdict(self) | more
        return {name: value for name, value in given.items() if name not in ("sets", "methods")}

    def changes(self, whole: "Protocol") -> str:
        """A sentence about what is not as in another protocol."""
        changed = [
            f"{field.name.replace('_', ' ')} {_shown(getattr(self, field.name))} instead of "
            f"{_shown(getattr(whole, field.name))}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != getattr(whole, field.name)
        ]
        return f"Departs from the study: {'; '.join(changed)}." if changed else "Nothing is scaled down."


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
