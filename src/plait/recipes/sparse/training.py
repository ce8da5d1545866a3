"""One method trained by a protocol: the model, and a row for each look at the validation data.

history.csv, history.json   rows of `plait.fit`, with `left`, the share of weights that the rule would keep
model.safetensors           the trained model
"""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from plait.checkpoint import load, save
from plait.data import Dataset
from plait.fit import Fit, History, fit
from plait.fit.record import Record
from plait.model import BayesianModel
from plait.recipes.part import Part, seconds_per_step
from plait.recipes.sparse.methods import Method
from plait.recipes.sparse.protocol import Protocol


@dataclass(frozen=True, eq=False)
class Trained:
    """A model, and how it came about."""

    model: BayesianModel
    history: History
    seconds: float
    """Looks at the validation data and compilation included."""
    seconds_per_step: float
    """Of training alone."""


def train(protocol: Protocol, dataset: Dataset, method: Method, part: Part, *, seed: int) -> Trained:
    """Train, or read what was trained."""
    key = jax.random.key(seed)
    bnn = protocol.build(dataset, method, key=key)
    total = protocol.epochs * protocol.steps_per_epoch(dataset)

    def work() -> dict[str, Any]:
        found = fit(
            bnn,
            protocol.batches(dataset, seed) if protocol.flips else dataset.train,
            dataset_size=len(dataset.train.x),
            batch_size=None if protocol.flips else protocol.batch_size,
            optimizer=protocol.optimizer(dataset),
            steps=total if protocol.steps is None else min(total, protocol.steps),
            key=key,
            kl_schedule=protocol.kl_schedule(),
            clip_norm=protocol.clip_norm,
            validation=dataset.validation,
            eval_every=max(1, protocol.epochs // protocol.looks),
            eval_samples=1,
            callbacks=lambda record: _note_left(record, protocol.threshold),
            checkpoint=part.checkpoints,
            keep=1,
            resume=True,
        )
        part.keep(found)
        save(part.path / "model.safetensors", found.model)
        return {"seconds_per_step": seconds_per_step(found.history)}

    done = part.once(work)
    model = load(part.path / "model.safetensors", like=bnn)
    return Trained(model, part.history(), done["seconds"], done["seconds_per_step"])


def fine_tune(protocol: Protocol, dataset: Dataset, bnn: BayesianModel, epochs: int, *, seed: int) -> Fit:
    """Train on with zeros where they are, the KL at weight 1 and a tenth of the learning rate."""
    found = fit(
        bnn,
        dataset.train,
        optimizer=protocol.optimizer(dataset, epochs, 0.1),
        epochs=epochs,
        batch_size=protocol.batch_size,
        clip_norm=protocol.clip_norm,
        key=jax.random.key(seed + 1),
    )
    if found.interrupted:
        raise KeyboardInterrupt
    return found


def _note_left(record: Record, threshold: float) -> None:
    """Beside each look at the validation data, how many weights a rule of log alpha would leave."""
    if "validation_accuracy" in record.row:
        record.row["left"] = float(_share_left(record.current().bnn, threshold))


@eqx.filter_jit
def _share_left(bnn: BayesianModel, threshold: float) -> jax.Array:
    layers = [bnn.posteriors[row.path] for row in bnn.sites if not row.layout.is_vector]
    kept = [jnp.sum(jnp.log(q.variance) - jnp.log(jnp.square(q.mean)) < threshold) for q in layers]
    return jnp.sum(jnp.stack(kept)) / sum(q.mean.size for q in layers)
