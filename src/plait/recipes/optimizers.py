"""What trains a run, by name: Adam on the ELBO, or a natural-gradient method, which brings a posterior of its own."""

import dataclasses
from collections.abc import Callable
from typing import Any

import optax

from plait import natural
from plait.recipes.options import ModelOptions, Options, TrainingOptions

NATURAL: dict[str, tuple[Callable[..., Any], float]] = {
    "noisy-adam": (natural.NoisyAdam, 0.01),
    "ivon": (natural.IVON, 0.1),
    "noisy-kfac": (natural.NoisyKFAC, 0.01),
    "noisy-ekfac": (natural.NoisyEKFAC, 0.01),
    "noisy-block-tridiagonal": (natural.NoisyBlockTridiagonal, 0.01),
    "noisy-full": (natural.NoisyFull, 0.01),
}
"""With their usual learning rates."""
ADAM_RATE = 5e-3


def make_optimizer(options: TrainingOptions, steps: int) -> Any:
    """For `plait.fit`; its learning rate falls to 0 along a cosine."""
    if options.optimizer == "adam":
        rate = ADAM_RATE if options.learning_rate is None else options.learning_rate
        return optax.adam(optax.cosine_decay_schedule(rate, steps))
    if options.clip_norm is not None:
        raise ValueError(f"`clip_norm` bounds the gradient of Adam; {options.optimizer!r} has no such bound")
    make, usual = NATURAL[options.optimizer]
    rate = usual if options.learning_rate is None else options.learning_rate
    return make(
        learning_rate=optax.cosine_decay_schedule(rate, steps),
        num_samples=options.train_samples,
        # A learned noise has no closed-form update.
        noise=optax.adam(ADAM_RATE),
    )


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
