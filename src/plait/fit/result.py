"""What a training run leaves behind."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from plait.fit.chunk import State
from plait.fit.early_stopping import Best
from plait.fit.history import History
from plait.fit.replicas import unstack
from plait.likelihood import Likelihood
from plait.model import BayesianModel

Ending = Literal["finished", "early stopping", "callback", "interrupted", "data ended", "not finite"]


@dataclass(frozen=True, eq=False)
class Fit:
    """A trained model and how it came about."""

    model: BayesianModel
    """With its likelihood: the best one under early stopping, else the last. Stacked where there are replicas."""
    history: History
    step: int
    """Steps done."""
    state: State
    """After the last step, whatever model is the best."""
    ending: Ending
    best: Best | None = None
    replicas: int | None = None
    failed: tuple[int, ...] = ()
    """Replicas whose loss was not finite at some step; their last finite parameters are kept."""
    checkpoint: Path | None = None
    """The last checkpoint."""

    @property
    def likelihood(self) -> Likelihood:
        """With its arrays, if any, as trained."""
        assert self.model.likelihood is not None
        return self.model.likelihood

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it."""
        return self.ending == "interrupted"

    def unstack(self) -> list[BayesianModel]:
        """The models of all replicas one by one; of a single run, its model."""
        return [self.model] if self.replicas is None else unstack(self.model, self.replicas)

    @property
    def models(self) -> list[BayesianModel]:
        """As `unstack`."""
        return self.unstack()

    def __str__(self) -> str:
        of = "" if self.replicas is None else f", {self.replicas} replicas"
        best = "" if self.best is None else f", best at step {self.best.step}"
        return f"{self.ending} after {self.step:,} steps{of}{best}\n{self.history}"
