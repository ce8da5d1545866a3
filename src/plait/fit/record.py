"""What a callback is told after an epoch."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plait.fit.chunk import State, copied
from plait.fit.history import History, Row
from plait.model import BayesianModel


@dataclass(frozen=True, eq=False)
class Record:
    """Training as it stands."""

    step: int
    """Steps done."""
    row: Row
    """The last row of the history."""
    history: History
    current: Callable[[], State]

    @property
    def model(self) -> BayesianModel:
        """The model as it is now; a copy, since training overwrites its own."""
        return copied(self.current().bnn)


Callback = Callable[[Record], Any]
"""Called after each epoch; training stops if it returns True."""
