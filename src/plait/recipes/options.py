"""What a training run is asked to do: plain values, so that a file can say all of it, with the help a user reads."""

import dataclasses
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from plait.model.bayesianize import EstimatorName
from plait.recipes.kl_schedules import KLScheduleName
from plait.recipes.networks import ActivationName, NetworkName
from plait.recipes.posteriors import PosteriorName
from plait.recipes.priors import PriorName

LikelihoodName = Literal["categorical", "bernoulli", "gaussian", "poisson"]
OptimizerName = Literal[
    "adam", "noisy-adam", "ivon", "noisy-kfac", "noisy-ekfac", "noisy-block-tridiagonal", "noisy-full"
]

LEARNING_RATES: dict[OptimizerName, float] = {"adam": 5e-3, "ivon": 0.1}
"""The usual ones; of all others it is 0.01."""
USUAL_STEPS = 4_000
MOST_EPOCHS = 1_000
FEWEST_EPOCHS = 10


@dataclass(frozen=True)
class DataOptions:
    """Which data, and what of it is the target."""

    data: str = "digits"
    """The name of a data set (`plait datasets` lists them), or the path of a .csv or .npz file."""
    data_dir: str | None = None
    """A folder with data sets."""
    target: str | None = None
    """Own files: the column, or the array of an npz, to predict."""
    features: tuple[str, ...] | None = None
    """Own csv files: the columns to predict from; by default all but the target."""
    task: Literal["classification", "binary", "regression"] | None = None
    """Own files: what kind of target it is, where its values mislead. Whole numbers from 0 and text are classes."""
    validation: float | None = None
    """The part of the training data to look at in training, below 1; by default what is usual with the data."""
    standardize: bool | None = None
    """Scale inputs, and in a regression targets, to mean 0 and variance 1; by default tables are, pictures not."""
    split: int = 0
    """Which of the fixed splits of a UCI set; else the seed of the shuffle into parts."""


@dataclass(frozen=True)
class ModelOptions:
    """The network, and the distributions over its weights."""

    network: NetworkName | None = None
    """The network; by default an mlp, for words an lstm."""
    widths: tuple[int, ...] | None = None
    """Sizes of its layers but the last; by default 100 100 for an mlp."""
    activation: ActivationName = "relu"
    """What stands between the layers."""
    posterior: PosteriorName = "tied"
    """The family of the posterior over each layer's weights; point is a plain network."""
    rank: int | None = None
    """The k of a tied or low-rank posterior; by default 2."""
    components: int | None = None
    """Mixture components of a rank-1 posterior; by default 4."""
    init_scale: float | None = None
    """Standard deviation that the posterior starts with; by default 0.01."""
    prior: PriorName | None = None
    """The prior over weights; by default a normal with a learned scale a layer, for rank-1 one over its factors."""
    prior_scale: float | None = None
    """Standard deviation of the prior, where it has one to choose."""
    estimator: EstimatorName | None = None
    """How weight noise meets activations; by default the best that the posterior offers."""
    likelihood: LikelihoodName | None = None
    """Of targets given outputs; by default categorical, bernoulli or gaussian, as the targets are."""
    noise: float | Literal["learned", "predicted"] = "learned"
    """Standard deviation of Gaussian targets, in their units; learned; or predicted by the network, input by input."""


@dataclass(frozen=True)
class TrainingOptions:
    """How to train."""

    epochs: int | None = None
    """Passes over the data; by default about 4,000 steps, in 10 to 1,000 epochs."""
    batch_size: int | None = None
    """Examples in a step; by default 64, or 256 where there are more than 10,000."""
    optimizer: OptimizerName = "adam"
    """Adam, or a natural-gradient method, which has a posterior of its own and needs a normal or he-normal prior."""
    learning_rate: float | None = None
    """The first step size, which falls to 0 along a cosine; by default 0.005 for adam, 0.1 for ivon, else 0.01."""
    kl_weight: float = 0.1
    """What the KL is multiplied with at last. 1 is the exact ELBO, which underfits where data are few."""
    kl_schedule: KLScheduleName = "linear"
    """How the KL weight gets there."""
    kl_warmup: float | None = None
    """The part of training in which a linear or exponential schedule rises; by default 0.5."""
    train_samples: int = 1
    """Weight samples in a training step."""
    clip_norm: float | None = None
    """A bound on the norm of Adam's gradient."""
    early_stopping: int | None = None
    """Stop after so many epochs without a better validation loss, and keep the best weights."""
    samples: int = 100
    """Weight samples in the final evaluation."""
    seed: int = 0
    """Of everything random but the split."""


@dataclass(frozen=True)
class Options:
    """Everything a training run depends on."""

    data: DataOptions = field(default_factory=DataOptions)
    model: ModelOptions = field(default_factory=ModelOptions)
    training: TrainingOptions = field(default_factory=TrainingOptions)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Plain values, for JSON."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Mapping[str, Any]]) -> "Options":
        """What `to_dict` gave, also after a way through JSON."""
        groups = {"data": DataOptions, "model": ModelOptions, "training": TrainingOptions}
        return cls(**{name: kind(**_with_tuples(values[name])) for name, kind in groups.items()})


def _with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def check_options(options: TrainingOptions) -> None:
    """Refuse numbers that make no sense with any data."""
    for name in ("epochs", "batch_size", "train_samples", "early_stopping", "samples"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise ValueError(f"`{name}` must be at least 1, got {value}")
    for name in ("learning_rate", "clip_norm"):
        value = getattr(options, name)
        if value is not None and not 0 < value < math.inf:
            raise ValueError(f"`{name}` must be a positive number, got {value}")
    if not 0 <= options.seed < 2**32:
        raise ValueError(f"`seed` must lie in 0..2^32 - 1, got {options.seed}")


def settle(options: Options, num_train: int) -> Options:
    """The same options with nothing left to the size of the data, and paths that hold from any folder."""
    training, data = options.training, options.data
    size = training.batch_size
    if size is None:
        size = min(256 if num_train > 10_000 else 64, num_train)
    if size > num_train:
        raise ValueError(f"`batch_size` {size} is larger than the data, which has {num_train} training examples")
    epochs = training.epochs
    if epochs is None:
        epochs = min(max(round(USUAL_STEPS / (num_train // size)), FEWEST_EPOCHS), MOST_EPOCHS)
    rate = training.learning_rate
    rate = LEARNING_RATES.get(training.optimizer, 0.01) if rate is None else rate
    settled = {"data": os.path.abspath(data.data)} if Path(data.data).suffix else {}
    if data.data_dir is not None:
        settled["data_dir"] = os.path.abspath(data.data_dir)
    return dataclasses.replace(
        options,
        data=dataclasses.replace(data, **settled),
        training=dataclasses.replace(training, epochs=epochs, batch_size=size, learning_rate=rate),
    )
