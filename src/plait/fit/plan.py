"""What a run does, settled before anything is compiled."""

from dataclasses import dataclass, field
from typing import Any

import equinox as eqx

from plait._typing import Array, PyTree
from plait.fit.gradient import OptimizerFactory
from plait.fit.placement import Placement
from plait.objective.optimizer import Optimizer


@dataclass(frozen=True)
class Plan:
    """Sizes."""

    dataset_size: int
    batch_size: int
    num_examples: int
    """Of the arrays that batches are cut from; 0 for an iterator of batches."""
    steps_per_epoch: int
    total_steps: int
    replicas: int | None = None
    data_per_replica: bool = False
    placement: Placement = field(default_factory=Placement)


class Recipe(eqx.Module):
    """What every step needs and none changes."""

    optimizer: Any
    """An optimizer, or a function that makes one from the values of a replica."""
    schedule: Any
    order_key: Array
    noise_key: Array
    values: PyTree
    """Hyperparameters by name, [replicas] each, or None."""
    plan: Plan = eqx.field(static=True)

    def optimizer_for(self, values: PyTree) -> Optimizer:
        """The optimizer of one replica."""
        return self.optimizer(values) if isinstance(self.optimizer, OptimizerFactory) else self.optimizer

    def kl_weight(self, step: Any) -> Any:
        """The factor on the KL at a step."""
        if hasattr(self.schedule, "weight"):
            plan = self.plan
            return self.schedule.weight(step, steps_per_epoch=plan.steps_per_epoch, total_steps=plan.total_steps)
        return self.schedule(step) if callable(self.schedule) else self.schedule
