"""A loss that is not finite: where it comes from."""

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import PRNGKey
from plait.checkpoint.arrays import arrays_of
from plait.fit.gradient import loss_of
from plait.model import BayesianModel, trainable


class NonFiniteLoss(FloatingPointError):
    """A loss or gradient is not a finite number. Training stopped before the step that would have used it."""

    def __init__(self, step: int, causes: list[str], checkpoint: Path | None):
        self.step = step
        self.causes = tuple(causes)
        """What is not finite at that step: inputs, parameters, KL terms, gradients by their path."""
        self.checkpoint = checkpoint
        """The last checkpoint, all of whose numbers are finite."""
        self.fit: Any = None
        """The run up to that step, with the last finite parameters."""
        found = "".join(f"\n  {cause}" for cause in causes) or "\n  nothing; only the update itself overflowed"
        kept = f"the last checkpoint is {checkpoint}" if checkpoint else "there is no checkpoint"
        super().__init__(
            f"the loss is not finite at step {step}. Not finite there:{found}\n"
            f"The parameters before that step are in this error's `fit.model`; {kept}. A lower learning rate, "
            "`clip_norm=` or a KL that is annealed may help; so may scaled inputs"
        )


def find_causes(bnn: BayesianModel, batch: Any, *, key: PRNGKey, **options: Any) -> list[str]:
    """Everything that is not finite when the loss of a batch is computed, first causes first."""
    causes: list[str] = []
    parameters, rest = eqx.partition(bnn, trainable(bnn))
    if batch is not None:
        for name, part in zip(("inputs", "targets"), batch, strict=True):
            causes += [f"{name} {_count(leaf)}" for leaf in jax.tree.leaves(part) if not _finite(leaf)]
    causes += [
        f"parameter {name} {_count(array)}" for name, array in arrays_of(parameters).items() if not _finite(array)
    ]
    terms = eqx.filter_jit(lambda bnn: bnn.kl_by_weight(key=key))(bnn)
    causes += [f"KL of {name}" for name, term in terms.items() if not _finite(term)]
    if batch is not None:
        loss = eqx.filter_jit(eqx.filter_value_and_grad(loss_of, has_aux=True))
        (_, (nll, _)), gradient = loss(parameters, rest, batch, key, **options)
        causes += [] if _finite(nll) else ["negative log-likelihood"]
        causes += [f"gradient of {name} {_count(g)}" for name, g in arrays_of(gradient).items() if not _finite(g)]
    return causes


def _finite(leaf: Any) -> bool:
    return not jnp.issubdtype(leaf.dtype, jnp.inexact) or bool(jnp.all(jnp.isfinite(leaf)))


def _count(leaf: Any) -> str:
    return f"({int(jnp.sum(~jnp.isfinite(leaf)))} of {leaf.size})"
