"""One posterior trained by a protocol, in a folder; a run that was stopped goes on where it was.

judged     with the KL annealed as the papers do where they report how good a method is
plain      without, a folder for each seed, with the signal in gradients recorded

settings.json      what the folder is of: another run cannot go on in it
done.json          written last: seconds, and for a plain run what was read off
model.safetensors, history.csv, history.json
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np
import optax

from plait.analysis import read_signal, signal_to_noise
from plait.checkpoint import load, save
from plait.data import Dataset
from plait.fit import History, fit
from plait.model import BayesianModel
from plait.recipes.ktied.protocol import Protocol, Rank, Start, method_name
from plait.recipes.part import Part, seconds_per_step

LOOKS = 60
"""At the validation data, in a judged run."""


@dataclass(frozen=True, eq=False)
class Judged:
    """A trained model."""

    model: BayesianModel
    history: History
    seconds: float
    """Of training with its looks at the validation data, data loading and compilation included."""
    seconds_per_epoch: float
    """Of training alone."""


@dataclass(frozen=True, eq=False)
class Plain:
    """What was read off training without annealing; arrays lead with seeds."""

    steps: np.ndarray
    """[looks]."""
    curve: np.ndarray
    """-ELBO per example on the validation data, [seeds, looks]."""
    signal: dict[tuple[str, str], np.ndarray]
    """By reading and statistic, of the standard deviations of the protocol's weight: [seeds, steps of the protocol]."""
    seconds: float
    """With looks at the validation data and compilation."""
    seconds_per_step: float
    """Of training alone."""

    @property
    def seconds_at(self) -> np.ndarray:
        """Seconds of training alone until each look."""
        return self.steps * self.seconds_per_step

    def at(self, step: int) -> np.ndarray:
        """-ELBO at the look nearest to a step, [seeds]."""
        return self.curve[:, np.argmin(np.abs(self.steps - step))]


def train_judged(protocol: Protocol, dataset: Dataset, rank: Rank, folder: Path, *, seed: int) -> Judged:
    """Train, or read what was trained."""
    key = jax.random.key(seed)
    bnn = protocol.build(dataset, rank, key=key)
    settings = _settings(protocol, rank, seed) | {"epochs": protocol.epochs, "kl": repr(protocol.kl_schedule())}
    part = Part(folder, settings)

    def work() -> dict[str, Any]:
        found = fit(
            bnn,
            dataset.train,
            optimizer=protocol.optimizer(),
            epochs=protocol.epochs,
            batch_size=_batch_size(protocol, dataset),
            key=key,
            kl_schedule=protocol.kl_schedule(),
            validation=dataset.validation,
            eval_every=max(1, protocol.epochs // LOOKS),
            eval_samples=4,
            checkpoint=part.checkpoints,
            keep=1,
            resume=True,
        )
        part.keep(found)
        save(folder / "model.safetensors", found.model)
        steps_per_epoch = len(dataset.train.x) // _batch_size(protocol, dataset)
        return {"seconds_per_epoch": steps_per_epoch * seconds_per_step(found.history)}

    done = part.once(work)
    model = load(folder / "model.safetensors", like=bnn)
    return Judged(model, part.history(), done["seconds"], done["seconds_per_epoch"])


def train_plain(protocol: Protocol, dataset: Dataset, rank: Rank, start: Start, folder: Path, *, seed: int) -> Plain:
    """Train, or read what was recorded. One seed after another: they need not share a stop, nor the memory."""
    seeds = range(seed, seed + protocol.seeds)
    parts = [_train_seed(protocol, dataset, rank, start, folder / f"seed-{each}", seed=each) for each in seeds]
    return Plain(
        parts[0].steps,
        np.concatenate([part.curve for part in parts]),
        {name: np.concatenate([part.signal[name] for part in parts]) for name in parts[0].signal},
        sum(part.seconds for part in parts),
        float(np.mean([part.seconds_per_step for part in parts])),
    )


def _train_seed(protocol: Protocol, dataset: Dataset, rank: Rank, start: Start, folder: Path, *, seed: int) -> Plain:
    key, at = jax.random.key(seed), protocol.signal_steps
    chosen = {"start": [start.init_scale, start.learning_rate], "steps": list(at)}
    part = Part(folder, _settings(protocol, rank, seed) | chosen)

    def work() -> dict[str, Any]:
        optimizer = protocol.optimizer(start.learning_rate)
        if protocol.signal_weight is not None:
            optimizer = optax.chain(signal_to_noise(at=at, window=min(10, at[0])), optimizer)
        found = fit(
            protocol.build(dataset, rank, key=key, init_scale=start.init_scale),
            dataset.train,
            optimizer=optimizer,
            steps=at[-1],
            batch_size=_batch_size(protocol, dataset),
            key=key,
            validation=dataset.validation,
            # KL / N, most of -ELBO here, is exact; one draw is enough for the rest, at every epoch.
            eval_samples=1,
            checkpoint=part.checkpoints,
            keep=1,
            resume=True,
        )
        part.keep(found)
        if protocol.signal_weight is not None:
            read_signal(found.state.optimizer).to_csv(folder / "signal.csv")
        save(folder / "model.safetensors", found.model)
        return {}

    done, history = part.once(work), part.history()
    signal = {} if protocol.signal_weight is None else _signal(folder, protocol.signal_weight)
    curve = history["validation_negative_elbo"][None]
    return Plain(history["step"], curve, signal, done["seconds"], seconds_per_step(history))


def _signal(folder: Path, weight: str) -> dict[tuple[str, str], np.ndarray]:
    with (folder / "signal.csv").open(newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["weight"] == weight]
    found: dict[tuple[str, str], list[float]] = {}
    for line in lines:
        # Of a tie, means are of both factors together, and medians of each.
        if line["group"] in ("log stds", "stds"):
            found.setdefault((line["reading"], "mean"), []).append(float(line["mean"]))
        if line["group"] in ("log stds", "U", "V"):
            name = f"median of {line['group']}"
            found.setdefault((line["reading"], name), []).append(float(line["quantile 0.5"]))
    return {name: np.asarray([values]) for name, values in found.items()}


def _batch_size(protocol: Protocol, dataset: Dataset) -> int:
    return min(protocol.batch_size, len(dataset.train.x))


def _settings(protocol: Protocol, rank: Rank, seed: int) -> dict[str, Any]:
    names = ("title", "data", "prior_scale", "init_scale", "learning_rate", "batch_size")
    return {"method": method_name(rank), "seed": seed} | {name: getattr(protocol, name) for name in names}
