"""How a model does on data it is not trained on, from a few weight samples and the same ones at every look.

    nll            -log 1/S sum_s p(y_n | x_n, W_s), the average over examples: of the predictive distribution
    negative_elbo  -1/S sum_s log p(y_n | x_n, W_s), the average over examples, + KL / N: the loss with KL weight 1

and accuracy, or the root mean squared error of the predictive mean.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import Array, PyTree, Scalar
from plait.fit.chunk import each_replica
from plait.fit.plan import Plan
from plait.model import BayesianModel
from plait.objective import negative_log_likelihood


class Validation(eqx.Module):
    """Held-out data and how to look at it."""

    data: PyTree
    key: Array
    num_examples: int = eqx.field(static=True)
    batch_size: int = eqx.field(static=True)
    num_samples: int = eqx.field(static=True)
    output: Callable[[Any], Array] = eqx.field(static=True)
    plan: Plan = eqx.field(static=True)


@eqx.filter_jit
def validate(validation: Validation, bnn: BayesianModel) -> dict[str, Array]:
    """The metrics by name; [replicas] of each where there are replicas."""
    plan = validation.plan
    arrays, static = eqx.partition(bnn, eqx.is_array)

    def one(arrays: PyTree, data: PyTree, key: Array) -> dict[str, Scalar]:
        return _validate(validation, eqx.combine(arrays, static), data, key)

    in_axes = (0, 0 if plan.data_per_replica else None, 0)
    return each_replica(plan, one, in_axes)(arrays, validation.data, validation.key)


def _validate(validation: Validation, bnn: BayesianModel, data: PyTree, key: Array) -> dict[str, Scalar]:
    size, likelihood = validation.batch_size, bnn.likelihood
    assert likelihood is not None
    classes = likelihood.task in ("classification", "binary")

    def look(batch: Array) -> Array:
        """Sums over one batch, whose last examples may be there to fill it only."""
        rows = batch * size + jnp.arange(size)
        counts = rows < validation.num_examples
        picked = jnp.minimum(rows, validation.num_examples - 1)
        x, y = validation.plan.placement.cut(jax.tree.map(lambda leaf: leaf[picked], data))
        inputs = x if isinstance(x, tuple) else (x,)
        keys = jax.random.split(jax.random.fold_in(key, batch), validation.num_samples)
        outputs = jax.vmap(lambda k: validation.output(bnn(*inputs, key=k)))(keys)
        members = tuple(range(1 + (bnn.components is not None)))
        mean = jnp.mean(likelihood.mean(outputs), axis=members)
        wrong = _agreement(likelihood.task, mean, y) if classes else jnp.square(y.astype(mean.dtype) - mean)
        terms = (
            negative_log_likelihood(likelihood, outputs, y, "mixture"),
            negative_log_likelihood(likelihood, outputs, y, "average"),
            jnp.mean(wrong.reshape(size, -1), axis=1),
        )
        return jnp.stack([jnp.sum(jnp.where(counts, term, 0)) for term in terms])

    batches = jnp.arange(-(-validation.num_examples // size))
    nll, gibbs, score = jnp.sum(jax.lax.map(look, batches), axis=0) / validation.num_examples
    kl = bnn.kl(key=key) + likelihood.kl()
    metrics = {"nll": nll, "negative_elbo": gibbs + kl / validation.plan.dataset_size}
    return metrics | ({"accuracy": score} if classes else {"rmse": jnp.sqrt(score)})


def _agreement(task: str, mean: Array, y: Array) -> Array:
    predicted = jnp.argmax(mean, axis=-1) if task == "classification" else mean > 0.5
    return (predicted.astype(jnp.int32) == y.astype(jnp.int32)).astype(mean.dtype)
