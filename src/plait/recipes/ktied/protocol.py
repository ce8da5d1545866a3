"""What is trained and how: everything an experiment of papers 000 and 001 depends on (MATH 1.2), as a value.

Every weight is in one of three classes: "tied" ones get Tied(k), or a mean field where the method is "full"; those in
`full` always get a mean field; all others are constants.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import optax

from plait import data
from plait._typing import PRNGKey
from plait.data import Dataset
from plait.data.loading import Pixels
from plait.likelihood import Bernoulli, Categorical, Likelihood
from plait.model import BayesianModel, bayesianize
from plait.model.bayesianize import EstimatorName
from plait.objective import Schedule, linear_annealing, stepwise_annealing
from plait.posterior import Family, MeanField, Tied
from plait.posterior.mean_field import Transform
from plait.prior import HeNormal, Normal, Prior

Rank = int | None
"""k; None is the mean field, "full" in the papers."""


@dataclass(frozen=True)
class Start:
    """Where training without annealing starts: the papers' initial standard deviation is not certain (MATH 1.5)."""

    init_scale: float
    learning_rate: float


@dataclass(frozen=True)
class Protocol:
    """One network and its training."""

    title: str
    data: str
    network: Callable[[Dataset, PRNGKey], Any]
    tied: tuple[str, ...]
    """Path patterns or site kinds."""
    full: tuple[str, ...] = ()
    """Likewise."""
    pixels: Pixels | None = None
    """The range of pixels, where there are any."""
    centred: bool = False
    """Subtract the mean of each input over the training data."""
    estimator: EstimatorName = "weights"
    """"weights" is one draw for the whole batch, the papers' "standard reparametrisation"."""

    prior_scale: float | None = 0.2
    """None for He's, variance 2 / fan-in."""
    init_scale: float = 0.01
    transform: Transform = "exp"
    """Of the mean field."""
    max_scale: float | None = None
    """A cap on its standard deviations."""

    learning_rate: float = 1e-3
    batch_size: int = 1024
    epochs: int = 300
    kl_coefficient: float | None = 5e-5
    """Rise of the KL weight for one step, in stairs of 100 steps (MATH 1.2); None for none of it."""
    kl_epochs: int | None = None
    """Epochs of a linear rise, instead."""
    num_samples: int = 100
    """Weight samples in evaluations."""

    prior_scales: tuple[float, ...] = (0.2, 0.3)
    """The grid of the papers."""
    learning_rates: tuple[float, ...] = (1e-4, 3e-4, 1e-3, 3e-3)

    ranks: tuple[int, ...] = (1, 2, 3)
    starts: tuple[Start, ...] = (Start(0.0016, 3e-4), Start(0.01, 1e-3))
    signal_steps: tuple[int, ...] = (1000, 5000, 9000)
    """Where the signal in gradients, and -ELBO, are read off training without annealing, which ends at the last."""
    signal_weight: str | None = None
    """The weight whose standard deviations the signal is of; none is recorded without."""
    seeds: int = 3
    """Of training without annealing."""
    floors: tuple[float, ...] = (1e-6, 1e-5, 1e-4)
    """Of truncated standard deviations; the middle one is that of the table (erratum E16)."""

    @property
    def methods(self) -> tuple[Rank, ...]:
        """The mean field and the ties."""
        return (None, *self.ranks)

    def load(self, data_dir: str | None = None) -> Dataset:
        """The data, scaled."""
        options: dict[str, Any] = {} if self.pixels is None else {"pixels": self.pixels}
        dataset = data.load(self.data, data_dir, **options)
        if not self.centred:
            return dataset
        mean = dataset.train.x.mean(axis=0)
        return dataset.map_inputs(lambda x: x - mean)

    def likelihood(self, dataset: Dataset) -> Likelihood:
        """Of classes, two or more."""
        return Bernoulli() if dataset.task == "binary" else Categorical()

    def families(self, rank: Rank, init_scale: float | None = None) -> Mapping[str, Family]:
        """For `plait.bayesianize(posterior=...)`; weights that no pattern names are constants."""
        scale = self.init_scale if init_scale is None else init_scale
        full = MeanField(scale, self.transform, self.max_scale)
        tied = full if rank is None else Tied(rank, scale)
        return dict.fromkeys(self.tied, tied) | dict.fromkeys(self.full, full)

    def prior(self) -> Prior:
        """Of random weights."""
        return HeNormal() if self.prior_scale is None else Normal(self.prior_scale)

    def build(self, dataset: Dataset, rank: Rank, *, key: PRNGKey, init_scale: float | None = None) -> BayesianModel:
        """The network before training."""
        bnn = bayesianize(
            self.network(dataset, key),
            dataset.train.x[:2],
            posterior=self.families(rank, init_scale),
            prior=self.prior(),
            estimator=self.estimator,
            key=key,
        )
        return bnn.with_likelihood(self.likelihood(dataset))

    def kl_schedule(self) -> Schedule | float:
        """Of the runs that are judged by how good they become."""
        if self.kl_epochs is not None:
            return linear_annealing(epochs=self.kl_epochs)
        return 1.0 if self.kl_coefficient is None else stepwise_annealing(self.kl_coefficient)

    def optimizer(self, learning_rate: float | None = None) -> optax.GradientTransformation:
        """Adam, with no decay."""
        return optax.adam(self.learning_rate if learning_rate is None else learning_rate)


def method_name(rank: Rank) -> str:
    """As the papers' tables name it."""
    return "full" if rank is None else str(rank)
