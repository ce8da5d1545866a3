"""What is trained and how: the hyperparameters of paper 003 (table 5, MATH 2.4 and 2.5) as a value.

    loss = mean NLL + l2 sum w^2 over points + min(1, (t + 1) / T) KL / N

SGD with Nesterov momentum, one epoch of warm-up, a step decay. The batch is one of `batch_size` different examples;
every component sees all of them, so that a step costs as much as one on K times as many.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import optax

from plait import data
from plait._typing import PRNGKey
from plait.data import Dataset
from plait.fit import l2_on_points, scale_factor_gradients
from plait.likelihood import Bernoulli, Categorical, Likelihood
from plait.objective import Schedule, linear_annealing
from plait.recipes.rank1 import events
from plait.recipes.rank1.batch_norm import STATISTICS

Network = Callable[[Dataset, PRNGKey], Any]


@dataclass(frozen=True)
class Factors:
    """Of the rank-1 posterior and its prior."""

    family: Literal["normal", "cauchy", "lognormal"] = "normal"
    prior_mean: float = 1.0
    prior_scale: float = 0.1
    dropout_rate: float = 1e-3
    random_sign_init: float = -0.5
    sides: Literal["both", "rows", "columns"] = "both"
    evaluation_samples: int = 1
    """Of each component."""


@dataclass(frozen=True)
class Protocol:
    """One network, its data and its training."""

    title: str
    data: str
    network: Network
    factors: Factors = Factors()
    cauchy: Factors = Factors("cauchy", dropout_rate=1e-6, evaluation_samples=4)
    standardized: bool = False
    """Pictures: subtract the mean of each colour over the training data, and divide by its standard deviation."""
    augmented: bool = False
    """Crops of a picture padded by 4 and mirrored every other time."""

    components: int = 4
    kl_reduction: Literal["mean", "sum"] = "sum"
    """"sum" as released: the published priors were tuned under it (erratum E22)."""
    reduction: str = "average"
    """How the likelihood is read in training."""
    shared_norms: bool = True
    """Whether batch statistics are of all components together, as released for CIFAR."""

    optimizer_name: Literal["sgd", "adam"] = "sgd"
    learning_rate: float = 0.1
    momentum: float = 0.9
    decay_ratio: float = 0.2
    decay_epochs: tuple[int, ...] = (80, 160, 180)
    """Of 200; rescaled to `epochs` (erratum E20)."""
    warmup_epochs: float = 1.0
    epochs: int = 250
    kl_epochs: int = 200
    """Of linear KL annealing."""
    batch_size: int = 128
    l2: float = 1e-4
    fast_weight_multiplier: float = 1.0
    clip_norm: float | None = None
    mean_field_scale: float = 0.01
    """Initial standard deviation of the mean-field baseline; its prior is He's."""
    dropout_rate: float = 0.1
    """Of the dropout baseline."""

    training_examples: int | None = None
    """So many of them; all by default."""
    test_examples: int | None = None
    corrupted_examples: int | None = None
    """Test examples that are corrupted."""

    def load(self, data_dir: str | None = None) -> Dataset:
        """The data, in the parts that are used; pictures in [0, 1], as corruptions need them."""
        dataset = events.load() if self.data == "events" else data.load(self.data, data_dir)
        train, test = (
            type(pair)(pair.x[:count], pair.y[:count])
            for pair, count in ((dataset.train, self.training_examples), (dataset.test, self.test_examples))
        )
        return replace(dataset, train=train, test=test)

    def scaling(self, dataset: Dataset) -> Callable[[np.ndarray], np.ndarray]:
        """From inputs as they are loaded to inputs of the network."""
        if not self.standardized:
            return lambda x: x
        axes = tuple(range(dataset.train.x.ndim - 1)) if dataset.train.x.ndim == 4 else None
        mean, std = (np.asarray(f(dataset.train.x, axis=axes), np.float32) for f in (np.mean, np.std))
        return lambda x: (x - mean) / std

    def likelihood(self, dataset: Dataset) -> Likelihood:
        """Of classes, two or more."""
        return Bernoulli() if dataset.task == "binary" else Categorical()

    def steps_per_epoch(self, dataset: Dataset) -> int:
        """Whole batches."""
        return max(1, len(dataset.train.x) // self.batch(dataset))

    def batch(self, dataset: Dataset) -> int:
        """Examples in a step."""
        return min(self.batch_size, len(dataset.train.x))

    def schedule(self, dataset: Dataset) -> optax.Schedule:
        """Warm-up in a straight line, then stairs."""
        per_epoch = self.steps_per_epoch(dataset)
        warm = max(1, round(self.warmup_epochs * per_epoch))
        stairs = {round(epoch * self.epochs / 200 * per_epoch): self.decay_ratio for epoch in self.decay_epochs}
        flat = optax.piecewise_constant_schedule(self.learning_rate, stairs)
        rising = optax.linear_schedule(0.0, self.learning_rate, warm)
        # The decay counts steps from the start, warm-up included.
        return optax.join_schedules([rising, lambda step: flat(step + warm)], [warm])

    def optimizer(self, dataset: Dataset) -> optax.GradientTransformation:
        """Of factors and points."""
        parts = [l2_on_points(self.l2, leaving_out=STATISTICS)] if self.l2 else []
        if self.clip_norm is not None:
            parts.append(optax.clip_by_global_norm(self.clip_norm))
        if self.fast_weight_multiplier != 1:
            parts.append(scale_factor_gradients(self.fast_weight_multiplier))
        if self.optimizer_name == "adam":
            return optax.chain(*parts, optax.adam(self.learning_rate))
        return optax.chain(*parts, optax.sgd(self.schedule(dataset), momentum=self.momentum, nesterov=True))

    def kl_schedule(self) -> Schedule:
        """Linear."""
        return linear_annealing(epochs=self.kl_epochs)
