"""What is trained and how, in the sparse learning of paper 002 (MATH 4.3), as a value.

The paper gives networks, data, the augmentation and that one run annealed the KL exponentially. Optimizer, learning
rate, epochs, batch size and the rule for zeros are not given: those here were chosen by short runs on the validation
data, and are the same for all posteriors.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import optax

from plait import data
from plait._typing import PRNGKey
from plait.data import Dataset
from plait.likelihood import Categorical
from plait.model import BayesianModel, bayesianize
from plait.objective import Schedule, exponential_annealing
from plait.recipes.sparse.methods import Method, PosteriorName, SparsityName
from plait.sparsity import LogAlpha, Rule

Batches = Callable[[int], Iterator[tuple[np.ndarray, np.ndarray]]]


@dataclass(frozen=True)
class Protocol:
    """One network on one data set, and its training."""

    name: str
    """Of its folder and section."""
    title: str
    data: str
    network: Callable[[Dataset, PRNGKey], Any]
    posteriors: tuple[PosteriorName, ...] = ("DIAG", "MN", "MN+Diag")
    sparsities: tuple[SparsityName, ...] = ("independent", "groups", "rows", "columns")
    epochs: int = 60
    batch_size: int = 512
    learning_rate: float = 5e-3
    """Of Adam, falling to 0 along a cosine."""
    init_scale: float = 0.02
    annealing: float = 0.25
    """The part of training in which the KL weight grows exponentially from `start` to 1."""
    start: float = 1e-3
    flips: bool = False
    """Whether pictures are turned left to right at random."""
    threshold: float = 3.0
    """Of log alpha, for zeros: the field's; the paper does not state its own."""
    fine_tune: int = 5
    """Epochs after zeroing."""
    num_samples: int = 20
    """Weight samples in evaluations."""
    looks: int = 30
    """At the validation data."""
    clip_norm: float | None = 10.0
    """A bound on the gradient, per example: what keeps a matrix normal from running away while the KL weighs little."""
    steps: int | None = None
    """Ends training before its epochs do; the schedules stay those of all epochs."""

    @property
    def methods(self) -> tuple[Method, ...]:
        """All pairs."""
        return tuple(Method(posterior, sparsity) for sparsity in self.sparsities for posterior in self.posteriors)

    def load(self, data_dir: str | None = None) -> Dataset:
        """The data, pixels in [0, 1]."""
        return data.load(self.data, data_dir)

    def build(self, dataset: Dataset, method: Method, *, key: PRNGKey) -> BayesianModel:
        """The network before training."""
        bnn = bayesianize(
            self.network(dataset, key),
            dataset.train.x[:2],
            posterior=method.families(self.init_scale),
            prior=method.prior(),
            key=key,
        )
        return bnn.with_likelihood(Categorical())

    def steps_per_epoch(self, dataset: Dataset) -> int:
        """Whole batches."""
        return len(dataset.train.x) // self.batch_size

    def optimizer(self, dataset: Dataset, epochs: int | None = None, factor: float = 1.0) -> Any:
        """Adam for so many epochs, by default all; `factor` is on the learning rate."""
        steps = (self.epochs if epochs is None else epochs) * self.steps_per_epoch(dataset)
        return optax.adam(optax.cosine_decay_schedule(factor * self.learning_rate, steps))

    def kl_schedule(self) -> Schedule:
        """Counted in epochs, so that a run that ends early has the schedule of a whole one."""
        return exponential_annealing(epochs=self.annealing * self.epochs, start=self.start)

    def rules(self) -> dict[str, Rule]:
        """The three ways of table 2: single weights, whole rows, whole columns."""
        return {
            "free": LogAlpha(self.threshold),
            "rows": LogAlpha(self.threshold, ("rows",)),
            "columns": LogAlpha(self.threshold, ("columns",)),
        }

    def batches(self, dataset: Dataset, seed: int) -> Batches:
        """Batches of a pass, for `plait.fit`: a new order, and each picture turned with probability 1/2."""
        x, y = dataset.train

        def one_pass(number: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
            rng = np.random.default_rng((seed, number))
            order = rng.permutation(len(x))
            for batch in range(self.steps_per_epoch(dataset)):
                rows = order[batch * self.batch_size : (batch + 1) * self.batch_size]
                turned = rng.random(len(rows)) < 0.5
                pictures = x[rows]
                pictures[turned] = pictures[turned, :, ::-1]
                yield pictures, y[rows]

        return one_pass
