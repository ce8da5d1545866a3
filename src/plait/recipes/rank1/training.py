"""One network of one method trained by a protocol, in a folder; a run that was stopped goes on where it was."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from plait.checkpoint import load, save
from plait.data import Dataset
from plait.fit import Gradient, fit
from plait.model import BayesianModel
from plait.recipes.part import Part, seconds_per_step
from plait.recipes.rank1.batch_norm import collect_statistics
from plait.recipes.rank1.methods import Method
from plait.recipes.rank1.protocol import Protocol


@dataclass(frozen=True, eq=False)
class Trained:
    """A network that predicts."""

    model: BayesianModel
    seconds: float
    """Of training, compilation included."""
    seconds_per_step: float


def train(protocol: Protocol, dataset: Dataset, method: Method, folder: Path, *, seed: int) -> Trained:
    """Train, or read what was trained; the dataset is as loaded, not scaled."""
    key = jax.random.key(seed)
    part = Part(folder, settings(protocol, method, seed))
    predicting = method.build(protocol, dataset, "predict", key=key)

    def work() -> dict[str, Any]:
        x = protocol.scaling(dataset)(dataset.train.x)
        augment = protocol.augmented
        data: Any = (
            augmented_batches(x, dataset.train.y, protocol.batch(dataset), seed) if augment else (x, dataset.train.y)
        )
        found = fit(
            method.build(protocol, dataset, "train", key=key),
            data,
            optimizer=Gradient(protocol.optimizer(dataset), reduction=method.reduction),
            steps=protocol.epochs * protocol.steps_per_epoch(dataset),
            batch_size=None if augment else protocol.batch(dataset),
            dataset_size=len(x) if augment else None,
            kl_schedule=protocol.kl_schedule(),
            key=key,
            checkpoint=part.checkpoints,
            keep=1,
            resume=True,
        )
        part.keep(found)
        model = found.model
        if any(path.endswith("stored_mean") for path in model.posteriors):
            collecting = method.build(protocol, dataset, "collect", key=key)
            size = protocol.batch(dataset)
            model = collect_statistics(model, collecting, predicting, x, key=jax.random.key(seed + 1), batch_size=size)
        save(folder / "model.safetensors", model)
        return {"seconds_per_step": seconds_per_step(found.history)}

    done = part.once(work)
    model = load(folder / "model.safetensors", like=predicting)
    return Trained(model, done["seconds"], done["seconds_per_step"])


def settings(protocol: Protocol, method: Method, seed: int) -> dict[str, Any]:
    """What a folder is of."""
    names = ("title", "data", "epochs", "kl_epochs", "batch_size", "learning_rate", "l2", "training_examples")
    chosen = {name: getattr(protocol, name) for name in names}
    described = {pattern: repr(family) for pattern, family in method.families.items()}
    return chosen | {"families": described, "reduction": method.reduction, "seed": seed}


def augmented_batches(
    x: np.ndarray, y: np.ndarray, batch_size: int, seed: int
) -> Callable[[int], Iterator[tuple[np.ndarray, np.ndarray]]]:
    """Batches of a pass over pictures: cut out of themselves padded by 4 pixels, and mirrored every other time."""
    size = x.shape[1]

    def batches(epoch: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        rng = np.random.default_rng((seed, epoch))
        order = rng.permutation(len(x))
        for start in range(0, len(x) - batch_size + 1, batch_size):
            rows = order[start : start + batch_size]
            padded = np.pad(x[rows], ((0, 0), (4, 4), (4, 4), *((0, 0),) * (x.ndim - 3)))
            tops, lefts = rng.integers(0, 9, (2, batch_size))
            cuts = [
                picture[top : top + size, left : left + size]
                for picture, top, left in zip(padded, tops, lefts, strict=True)
            ]
            mirrored = rng.random(batch_size) < 0.5
            cuts = [cut[:, ::-1] if flip else cut for cut, flip in zip(cuts, mirrored, strict=True)]
            yield np.stack(cuts), y[rows]

    return batches
