"""Training of an autoencoder by `plait.fit`: the bound on its images instead of the one on weights (algorithm 3).

    loss = mean_n [ -log p(x_n | z_n) + beta KL(q(z | x_n) || N(0, I)) ],      z_n ~ q(z | x_n)

The network's weights are constants (`Point`). `kl` in the history is the sum over the training images, so that -ELBO
there is per image. After each epoch -ELBO of the validation images, with the same noise every time, decides which model
is the best; while the KL is annealed nothing is stopped.

best.safetensors, best.json    the best model so far, so that a run that was stopped finds it again
"""

import json
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from plait._typing import Array, PRNGKey, Scalar
from plait.checkpoint import load, save
from plait.fit.record import Record
from plait.likelihood import Likelihood
from plait.model import BayesianModel, trainable
from plait.objective.optimizer import StepAux
from plait.recipes.part import write_json
from plait.recipes.vae.bound import bounds, negative_elbo


class LatentGradient(eqx.Module):
    """Gradient descent on the bound of images by an optax transformation: an optimizer of `plait.fit`."""

    transformation: optax.GradientTransformation = eqx.field(static=True)

    def init(self, bnn: BayesianModel) -> Any:
        with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
            return self.transformation.init(eqx.filter(bnn, trainable(bnn)))

    def step(
        self,
        bnn: BayesianModel,
        state: Any,
        batch: tuple[Any, Any],
        *,
        key: PRNGKey,
        likelihood: Likelihood,
        dataset_size: int,
        kl_weight: Any = 1.0,
    ) -> tuple[BayesianModel, Any, StepAux]:
        parameters, rest = eqx.partition(bnn, trainable(bnn))

        def loss(parameters: Any) -> tuple[Scalar, tuple[Scalar, Scalar]]:
            nll, kl = (jnp.mean(term) for term in bounds(eqx.combine(parameters, rest).mean(), batch[0], key))
            return nll + kl_weight * kl, (nll, kl)

        (value, (nll, kl)), gradient = jax.value_and_grad(loss, has_aux=True)(parameters)
        with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
            updates, state = self.transformation.update(gradient, state, parameters)
            norm = optax.tree.norm(gradient)
        moved: Any = optax.apply_updates(parameters, updates)
        return eqx.combine(moved, rest), state, StepAux(value, nll, dataset_size * kl, likelihood, norm)


class BestModel:
    """A callback of `plait.fit` that keeps the best model in a folder, and stops when there is none for a while."""

    def __init__(self, folder: Path, x: Array, *, warmup: int, patience: int, key: PRNGKey, batch_size: int = 500):
        self.folder = folder
        self.x = x
        self.warmup = warmup
        """Epochs in which nothing is stopped."""
        self.patience = patience
        """Epochs after the best one, or after the warmup."""
        self.key = key
        self.batch_size = batch_size
        self.value, self.epoch = float("inf"), 0
        if (folder / "best.json").is_file():
            best = json.loads((folder / "best.json").read_text())
            self.value, self.epoch = best["value"], best["epoch"]

    def __call__(self, record: Record) -> bool:
        bnn, epoch = record.current().bnn, int(record.row["epoch"])
        value = float(negative_elbo(bnn.mean(), self.x, self.key, self.batch_size))
        record.row["validation_negative_elbo"] = value
        if value < self.value:
            self.value, self.epoch = value, epoch
            save(self.folder / "best.safetensors", bnn)
            write_json(self.folder / "best.json", {"value": value, "epoch": epoch})
        return epoch - max(self.epoch, self.warmup) >= self.patience

    def model(self, like: BayesianModel) -> BayesianModel:
        """The best one."""
        return load(self.folder / "best.safetensors", like=like)
