"""Gradient descent on the negative ELBO by any optax transformation.

    g = grad of  nll + kl_weight * KL / N,     g <- g min(1, clip_norm / ||g||),     parameters <- parameters + u(g)

What is trained: every array of posteriors, learned priors and the likelihood.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from plait._typing import Array, PRNGKey, PyTree, Scalar
from plait.likelihood import Likelihood
from plait.model import BayesianModel, trainable
from plait.objective import Aux, elbo
from plait.objective.optimizer import Optimizer, StepAux


def whole(outputs: Any) -> Any:
    """The outputs as they are."""
    return outputs


class Gradient(eqx.Module):
    """An optax transformation as an optimizer of a Bayesian model; `plait.fit` wraps one by itself.

    `num_samples` and `reduction` are those of `plait.elbo`. `clip_norm` bounds the norm of the whole gradient.
    `accumulate=k` works through a batch in k parts whose gradients are averaged: the memory of one part, the gradient
    of the whole batch.
    """

    transformation: optax.GradientTransformation = eqx.field(static=True)
    num_samples: int = eqx.field(static=True, default=1)
    reduction: str = eqx.field(static=True, default="average")
    clip_norm: float | None = eqx.field(static=True, default=None)
    accumulate: int = eqx.field(static=True, default=1)
    output: Callable[[Any], Array] = eqx.field(static=True, default=whole)
    """Picks the likelihood's input from the model's outputs, where these are more than one array."""

    def __check_init__(self):
        for name, value in (("num_samples", self.num_samples), ("accumulate", self.accumulate)):
            if isinstance(value, bool) or value < 1:
                raise ValueError(f"`{name}` must be a positive integer, got {value!r}")
        if self.clip_norm is not None and not self.clip_norm > 0:
            raise ValueError(f"`clip_norm` bounds the norm of the gradient and must be positive, got {self.clip_norm}")

    def init(self, bnn: BayesianModel) -> Any:
        with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
            return self.transformation.init(_parameters(bnn)[0])

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
        parameters, rest = _parameters(bnn.with_likelihood(likelihood))

        def loss(parameters: PyTree, batch: tuple[Any, Any], key: PRNGKey) -> tuple[Scalar, Aux]:
            return loss_of(
                parameters,
                rest,
                batch,
                key,
                dataset_size=dataset_size,
                kl_weight=kl_weight,
                num_samples=self.num_samples,
                reduction=self.reduction,
                output=self.output,
            )

        (value, (nll, kl)), gradient = self._average(jax.value_and_grad(loss, has_aux=True), parameters, batch, key)
        norm = _norm(gradient)
        if self.clip_norm is not None:
            factor = jnp.minimum(1, self.clip_norm / jnp.maximum(norm, jnp.finfo(norm.dtype).tiny))
            gradient = jax.tree.map(lambda leaf: leaf * factor.astype(leaf.dtype), gradient)
        # Some transformations look at the loss, too.
        update = optax.with_extra_args_support(self.transformation).update
        # Optax's own code leans on implicit promotion, whatever the user's settings.
        with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
            updates, state = update(gradient, state, parameters, value=value)
        parameters: Any = optax.apply_updates(parameters, updates)
        bnn = eqx.combine(parameters, rest)
        assert bnn.likelihood is not None
        return bnn, state, StepAux(value, nll, kl, bnn.likelihood, norm)

    def _average(self, function: Callable[..., Any], parameters: PyTree, batch: tuple[Any, Any], key: PRNGKey) -> Any:
        """Value and gradient, averaged over the parts of a batch."""
        if self.accumulate == 1:
            return function(parameters, batch, key)
        # Part j has rows j, j + k, ...: where a batch is spread over devices, each of them has some of every part.
        parts = jax.tree.map(lambda leaf: _cut(leaf, self.accumulate), batch)
        keys = jax.random.split(key, self.accumulate)
        shape = jax.eval_shape(function, parameters, jax.tree.map(lambda leaf: leaf[0], parts), key)
        zero = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shape)

        def add(total: Any, part: Any) -> tuple[Any, None]:
            return jax.tree.map(jnp.add, total, function(parameters, *part)), None

        total, _ = jax.lax.scan(add, zero, (parts, keys))
        return jax.tree.map(lambda leaf: leaf / self.accumulate, total)


def loss_of(
    parameters: BayesianModel, rest: BayesianModel, batch: tuple[Any, Any], key: PRNGKey, **options: Any
) -> tuple[Scalar, Aux]:
    """`plait.elbo` as a function of what is trained."""
    bnn = eqx.combine(parameters, rest)
    assert bnn.likelihood is not None
    return elbo(bnn, batch, key=key, likelihood=bnn.likelihood, **options)


@dataclass(frozen=True)
class OptimizerFactory:
    """A function of a replica's values that makes an optimizer or an optax transformation."""

    make: Callable[[Any], Any]
    options: tuple[tuple[str, Any], ...]
    output: Callable[[Any], Array] | None

    def __call__(self, values: Any) -> Optimizer:
        return _as_optimizer(self.make(values), dict(self.options), self.output)


def make_optimizer(
    optimizer: Any, values: Any, options: Mapping[str, Any], output: Callable[[Any], Array] | None
) -> Optimizer | OptimizerFactory:
    """What the user gave as an optimizer, or as a function of `values` that makes one.

    An optax transformation is wrapped with the options of a `Gradient`; an optimizer must need none.
    """
    defaults = {"num_samples": 1, "accumulate": 1, "clip_norm": None}
    options = {name: value for name, value in options.items() if value != defaults[name]}
    if not callable(optimizer) or isinstance(optimizer, Optimizer):
        return _as_optimizer(optimizer, options, output)
    if values is None:
        raise TypeError(
            "`optimizer` is a function: one that makes an optimizer from the values of a replica needs these, "
            "`replicas={'learning_rate': ...}`"
        )
    return OptimizerFactory(optimizer, tuple(options.items()), output)


def _as_optimizer(optimizer: Any, options: Mapping[str, Any], output: Callable[[Any], Array] | None) -> Optimizer:
    if isinstance(optimizer, Optimizer):
        if options:
            raise ValueError(
                f"{', '.join(f'`{name}`' for name in options)} say how an optax transformation is used; "
                f"give them to {type(optimizer).__name__} itself"
            )
        return optimizer
    if hasattr(optimizer, "init") and hasattr(optimizer, "update"):
        return Gradient(optimizer, output=whole if output is None else output, **options)
    raise TypeError(
        "`optimizer` must be an optax transformation such as optax.adam(1e-3), or have the methods `init` and `step` "
        f"of an optimizer of `plait.fit`; got {optimizer!r}"
    )


def _parameters(bnn: BayesianModel) -> tuple[Any, BayesianModel]:
    return eqx.partition(bnn, trainable(bnn))


def _norm(gradient: PyTree) -> Scalar:
    squares = [jnp.sum(jnp.square(jnp.abs(leaf)), dtype=float) for leaf in jax.tree.leaves(gradient)]
    return jnp.sqrt(jnp.sum(jnp.stack(squares)))


def _cut(leaf: Array, parts: int) -> Array:
    size = leaf.shape[0]
    if size % parts:
        raise ValueError(f"a batch of {size} examples cannot be cut into accumulate={parts} equal parts")
    return jnp.moveaxis(leaf.reshape(size // parts, parts, *leaf.shape[1:]), 1, 0)
