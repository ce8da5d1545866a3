"""What trains a run, by name: Adam on the ELBO, or a natural-gradient method, which brings a posterior of its own."""

import dataclasses
from collections.abc import Callable
from typing import Any

import optax

from plait import natural
from plait.recipes.options import LEARNING_RATES, ModelOptions, Options, TrainingOptions

NATURAL: dict[str, Callable[..., Any]] = {
    "noisy-adam": natural.NoisyAdam,
    "ivon": natural.IVON,
    "noisy-kfac": natural.NoisyKFAC,
    "noisy-ekfac": natural.NoisyEKFAC,
    "noisy-block-tridiagonal": natural.NoisyBlockTridiagonal,
    "noisy-full": natural.NoisyFull,
}


def make_optimizer(options: TrainingOptions, steps: int) -> Any:
    """For `plait.fit`; its learning rate, that of settled options, falls to 0 along a cosine."""
    assert options.learning_rate is not None
    schedule = optax.cosine_decay_schedule(options.learning_rate, steps)
    if options.optimizer == "adam":
        return optax.adam(schedule)
    if options.clip_norm is not None:
        raise ValueError(f"`clip_norm` bounds the gradient of Adam; {options.optimizer!r} has no such bound")
    # A learned noise has no closed-form update.
    noise = optax.adam(LEARNING_RATES["adam"])
    return NATURAL[options.optimizer](learning_rate=schedule, num_samples=options.train_samples, noise=noise)


def posterior_name(options: Options) -> str:
    """What a run calls its posterior."""
    return options.training.optimizer if options.training.optimizer in NATURAL else options.model.posterior


def fitting_model(options: Options) -> ModelOptions:
    """What is built before training: natural gradient starts at a mean field, under a normal prior."""
    model, name = options.model, options.training.optimizer
    if name not in NATURAL:
        return model
    # "tied" is the default, which nobody asked for.
    if model.posterior not in ("tied", "mean-field") or model.rank is not None or model.components is not None:
        raise ValueError(
            f"`optimizer` {name!r} has a posterior of its own: leave `posterior`, `rank` and `components` out"
        )
    return dataclasses.replace(model, posterior="mean-field", prior="he-normal" if model.prior is None else model.prior)
