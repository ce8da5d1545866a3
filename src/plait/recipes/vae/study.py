"""All latents of a protocol: trained, judged by importance sampling, with pictures of what they do.

Each latent has a folder in the output, <output>/<|z|>-<head>/, and is not done twice.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from plait.data import Dataset
from plait.fit import History, fit
from plait.metrics import Estimate
from plait.model import BayesianModel
from plait.recipes.part import Part, seconds_per_step
from plait.recipes.vae.bound import importance
from plait.recipes.vae.latent import Latent
from plait.recipes.vae.network import Autoencoder
from plait.recipes.vae.protocol import Protocol, load_static, spread
from plait.recipes.vae.training import BestModel, LatentGradient

BATCH = 50
"""Test images at once in importance sampling."""


@dataclass(frozen=True, eq=False)
class Judged:
    """One latent."""

    latent: Latent
    model: Autoencoder
    history: History
    log_likelihood: Estimate
    """Per test image, by importance sampling."""
    elbo: Estimate
    """By the same samples."""
    best_epoch: int
    seconds: float
    """Of training."""
    seconds_per_step: float
    num_params: int


@dataclass(frozen=True, eq=False)
class Results:
    """Everything that was found."""

    dataset: Dataset
    source: str
    judged: tuple[Judged, ...]


def run_study(protocol: Protocol, output: Path, *, data_dir: str | None = None, seed: int = 0) -> Results:
    """Do what is not done yet."""
    static = load_static(data_dir)
    train, validation = (_images(static.dataset, part, protocol.train_images) for part in ("train", "validation"))
    test = _images(static.dataset, "test", protocol.test_images)
    judged = []
    for latent in protocol.latents:
        folder = output / f"{latent.size}-{latent.head.lower()}"
        one = _run(protocol, latent, (train, validation, test), folder, seed)
        judged.append(one)
        print(
            f"|z| = {latent.size}, {latent.head}: {one.seconds:.0f} s, best after {one.best_epoch} epochs, LL "
            f"{one.log_likelihood}, ELBO {one.elbo}",
            flush=True,
        )
    return Results(static.dataset, static.source, tuple(judged))


def _images(dataset: Dataset, part: str, count: int | None) -> np.ndarray:
    return spread(dataset.parts()[part].x, count).astype(np.float32)


def _run(protocol: Protocol, latent: Latent, parts: tuple[np.ndarray, ...], folder: Path, seed: int) -> Judged:
    train, validation, test = parts
    bnn, key = protocol.build(train.shape[1:], latent, seed), jax.random.key(seed)
    part = Part(folder, _settings(protocol, latent, seed))
    best = BestModel(folder, jnp.asarray(validation), warmup=protocol.annealing, patience=protocol.patience, key=key)

    def work() -> dict[str, Any]:
        found = fit(
            bnn,
            (train, train),
            optimizer=LatentGradient(optax.adam(protocol.learning_rate)),
            epochs=protocol.epochs,
            batch_size=protocol.batch_size,
            key=key,
            kl_schedule=protocol.kl_schedule(),
            callbacks=best,
            checkpoint=part.checkpoints,
            # Twenty in a whole run: one every few minutes.
            keep=1,
            resume=True,
        )
        part.keep(found)
        return {"best_epoch": best.epoch, "seconds_per_step": seconds_per_step(found.history)}

    done = part.once(work)
    model = best.model(bnn)
    judging = Part(
        folder / "judged",
        {"samples": protocol.num_samples, "images": len(test), "trained": _settings(protocol, latent, seed)},
    )
    found = judging.once(lambda: _judge(protocol, model.mean(), test, seed))
    return Judged(
        latent,
        model.mean(),
        part.history(),
        Estimate(*found["log_likelihood"]),
        Estimate(*found["elbo"]),
        done["best_epoch"],
        done["seconds"],
        done["seconds_per_step"],
        _count(model),
    )


def _judge(protocol: Protocol, model: Autoencoder, test: np.ndarray, seed: int) -> dict[str, Any]:
    pairs = [
        importance(model, jnp.asarray(x), jax.random.key(seed + index), protocol.num_samples, protocol.chunk)
        for index, x in enumerate(_batches(test))
    ]
    names = ("log_likelihood", "elbo")
    values = (np.concatenate([np.asarray(pair[which]) for pair in pairs])[: len(test)] for which in range(2))
    return {name: dataclasses.astuple(Estimate.of_mean(each)) for name, each in zip(names, values, strict=True)}


def _batches(images: np.ndarray) -> Iterator[np.ndarray]:
    """Of one size, so that one program does: the last is filled up."""
    for start in range(0, len(images), BATCH):
        batch = images[start : start + BATCH]
        yield np.concatenate([batch, np.repeat(batch[-1:], BATCH - len(batch), axis=0)])


def _settings(protocol: Protocol, latent: Latent, seed: int) -> dict[str, Any]:
    names = ("widths", "learning_rate", "batch_size", "epochs", "annealing", "start", "patience", "train_images")
    return {"latent": dataclasses.asdict(latent), "seed": seed} | {name: getattr(protocol, name) for name in names}


def _count(bnn: BayesianModel) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(bnn.mean(), eqx.is_inexact_array)))
