"""A classifier trained by one method, looked at after every epoch: NLL, ECE and accuracy on the test data, and time.

A run that was stopped goes on where it was. In its folder:

settings.json   what it is of          epochs.json     a row for each epoch, written as it comes
checkpoints/    the state of training, until it is done
"""

import dataclasses
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
import optax

from plait import natural
from plait._typing import PRNGKey
from plait.checkpoint.atomic import write_whole
from plait.data import Dataset
from plait.fit import Record, fit
from plait.likelihood import Categorical
from plait.model import BayesianModel, bayesianize
from plait.posterior import MeanField, Point
from plait.predict import evaluate
from plait.prior import Normal
from plait.recipes.part import Part

METRICS = ("nll", "ece", "accuracy")


@dataclass(frozen=True)
class Setting:
    """One network on one data set, and how all methods train it."""

    title: str
    data: str
    network: Callable[[Dataset, PRNGKey], Any]
    epochs: int
    batch_size: int
    prior_scale: float
    kl_weight: float
    learning_rate: float = 1e-3
    """Adam's."""
    natural_rate: float = 0.01
    """alpha."""
    curvature_rate: float = 0.01
    """beta: 1 - the decay of the moving average."""
    momentum: float = 0.9
    statistics_every: int = 10
    inverse_every: int = 100
    damping: float = 1e-3
    """Of noisy K-FAC's steps."""
    kl_clip: float | None = 1e-3
    init_scale: float = 0.01
    num_samples: int = 10
    """Weight samples of a look at the test data."""
    look_every: int = 1
    """Epochs from one look to the next."""

    def optimizer(self, method: str, steps: int) -> Any:
        """For `plait.fit`."""
        if not method.startswith("noisy"):
            return optax.adam(optax.cosine_decay_schedule(self.learning_rate, steps))
        kinds: dict[str, Callable[..., Any]] = {"noisy Adam": natural.NoisyAdam, "noisy K-FAC": natural.NoisyKFAC}
        more = {"inverse_every": self.inverse_every} if method == "noisy K-FAC" else {}
        return kinds[method](
            learning_rate=optax.cosine_decay_schedule(self.natural_rate, steps),
            curvature_rate=self.curvature_rate,
            momentum=self.momentum,
            statistics_every=self.statistics_every,
            damping=self.damping,
            kl_clip=self.kl_clip,
            **more,
        )

    def build(self, dataset: Dataset, method: str, key: PRNGKey) -> BayesianModel:
        """The network before training."""
        family = Point() if method == "Adam, no distribution" else MeanField(self.init_scale)
        network, prior = self.network(dataset, key), Normal(self.prior_scale)
        bnn = bayesianize(network, dataset.train.x[:2], posterior=family, prior=prior, key=key)
        return bnn.with_likelihood(Categorical())

    def plain(self) -> dict[str, Any]:
        """The numbers of it, for a file."""
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "network"}


CLASSIFIERS = ("Adam, no distribution", "Adam, mean field", "noisy Adam", "noisy K-FAC")


@dataclass(frozen=True, eq=False)
class Curve:
    """A row for each look."""

    epoch: np.ndarray
    seconds: np.ndarray
    """Of training alone, without the first epoch's compilation."""
    metrics: dict[str, np.ndarray]
    errors: dict[str, np.ndarray]
    """Standard errors over test examples."""
    steps_per_second: float


def train_by_epoch(setting: Setting, method: str, dataset: Dataset, folder: Path, *, seed: int) -> Curve:
    """Train, go on, or read what was found."""
    key, size = jax.random.key(seed), min(setting.batch_size, len(dataset.train.x))
    length = len(dataset.train.x) // size
    part = Part(folder, setting.plain() | {"method": method, "seed": seed})
    if len(_rows(folder)) < -(-setting.epochs // setting.look_every) or part.checkpoints.is_dir():
        found = fit(
            setting.build(dataset, method, key),
            dataset.train,
            optimizer=setting.optimizer(method, setting.epochs * length),
            epochs=setting.epochs,
            batch_size=size,
            kl_schedule=setting.kl_weight,
            key=key,
            callbacks=lambda record: _look(setting, dataset, folder, length, record),
            checkpoint=part.checkpoints,
            checkpoint_every=length,
            keep=1,
            resume=True,
        )
        if found.interrupted:
            raise KeyboardInterrupt
        shutil.rmtree(part.checkpoints)
    rows = _rows(folder)
    paces = np.asarray([row["steps_per_second"] for row in rows.values()])
    epochs = np.asarray([int(epoch) for epoch in rows])
    pace = float(np.median(paces))
    return Curve(
        epochs,
        epochs * length / pace,
        {name: np.asarray([row[name][0] for row in rows.values()]) for name in METRICS},
        {name: np.asarray([row[name][1] for row in rows.values()]) for name in METRICS},
        pace,
    )


def _look(setting: Setting, dataset: Dataset, folder: Path, length: int, record: Record) -> None:
    epoch = record.step // length
    if epoch % setting.look_every and epoch != setting.epochs:
        return
    key = jax.random.key(epoch)
    found = evaluate(record.model, dataset.test, key=key, num_samples=setting.num_samples, progress=False).metrics
    row: dict[str, Any] = {name: [found[name].value, found[name].standard_error] for name in METRICS}
    row["steps_per_second"] = record.row["steps_per_second"]
    rows = _rows(folder) | {str(epoch): row}
    write_whole(folder / "epochs.json", json.dumps(rows, indent=1).encode())
    shown = ", ".join(f"{name} {found[name]}" for name in METRICS)
    print(f"{setting.data}, {folder.name}, epoch {epoch}: {shown}", flush=True)


def _rows(folder: Path) -> dict[str, Any]:
    path = folder / "epochs.json"
    return json.loads(path.read_text()) if path.is_file() else {}
