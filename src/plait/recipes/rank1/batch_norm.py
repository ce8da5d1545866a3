"""Batch normalisation as plain weights, so that a mixture can have one of each component, or share it.

    y = gamma (x - m) / sqrt(v + eps) + beta

train      m and v of the batch, over examples and places, and over components where `shared`
collect    likewise, and they are handed out
predict    m and v as stored

The stored statistics are no buffers but weights that no gradient reaches: under `RankOne` they get one copy for each
component, under `Point` one for all. They are not moving averages but means over batches after training, with the
noise of the weights in them (`collect_statistics`).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, PRNGKey
from plait.model import BayesianModel
from plait.model.bayesian_model import COMPONENTS
from plait.posterior import PointPosterior
from plait.posterior.rank_one import ComponentVector

Mode = Literal["train", "collect", "predict"]
Seen = dict[str, tuple[Array, Array]]
STATISTICS = ("*.stored_mean", "*.stored_variance")
"""Path patterns."""


class BatchNorm(eqx.Module):
    """Of one example [channels, ...], under a map over examples with the axis name "batch"."""

    scale: Array
    shift: Array
    stored_mean: Array
    stored_variance: Array
    mode: Mode = eqx.field(static=True, default="train")
    shared: bool = eqx.field(static=True, default=False)
    """Whether the statistics of a batch are of all components together."""
    name: str = eqx.field(static=True, default="")

    @classmethod
    def of(cls, channels: int) -> "BatchNorm":
        """Before training."""
        return cls(jnp.ones(channels), jnp.zeros(channels), jnp.zeros(channels), jnp.ones(channels))

    def __call__(self, x: Array, seen: Seen) -> Array:
        spread = (..., *(None for _ in range(x.ndim - 1)))
        if self.mode == "predict":
            mean, variance = self.stored_mean, self.stored_variance
        else:
            axes = ("batch", COMPONENTS) if self.shared else ("batch",)
            places = tuple(range(1, x.ndim))
            mean = jax.lax.pmean(jnp.mean(x, axis=places), axes)
            variance = jax.lax.pmean(jnp.mean(jnp.square(x - mean[spread]), axis=places), axes)
        if self.mode == "collect":
            seen[self.name] = (mean, variance)
        factor = self.scale * jax.lax.rsqrt(variance + 1e-5)
        return (x - mean[spread]) * factor[spread] + self.shift[spread]


def with_norms(network: Any, mode: Mode, shared: bool) -> Any:
    """The network with all its norms set, each with its path as a name."""

    def changed(path: Any, leaf: Any) -> Any:
        if not isinstance(leaf, BatchNorm):
            return leaf
        return replace(leaf, mode=mode, shared=shared, name=jax.tree_util.keystr(path, simple=True, separator="."))

    return jax.tree_util.tree_map_with_path(changed, network, is_leaf=lambda leaf: isinstance(leaf, BatchNorm))


def collect_statistics(
    trained: BayesianModel,
    collecting: BayesianModel,
    predicting: BayesianModel,
    x: np.ndarray,
    *,
    key: PRNGKey,
    batch_size: int,
    batches: int = 50,
) -> BayesianModel:
    """The predicting model with the trained posteriors and the mean statistics over batches of x."""
    collecting = _with_posteriors(collecting, trained)
    count = max(1, min(batches, len(x) // batch_size))
    total: Mapping[str, tuple[Array, Array]] = {}
    for index in range(count):
        batch = x[index * batch_size : (index + 1) * batch_size]
        _, seen = collecting(batch, key=jax.random.fold_in(key, index))
        total = seen if not total else jax.tree.map(jnp.add, total, seen)
    model = _with_posteriors(predicting, trained)
    for name, (mean, variance) in total.items():
        for which, value in (("stored_mean", mean), ("stored_variance", variance)):
            # Equal for all examples: [K, N, channels] or [N, channels].
            found = value[..., 0, :] / count
            where, found = _slot(f"{name}.{which}", model, found)
            model = eqx.tree_at(where, model, found)
    return model


def _slot(path: str, model: BayesianModel, found: Array) -> tuple[Callable[[BayesianModel], Array], Array]:
    posterior = model.posteriors[path]
    if isinstance(posterior, ComponentVector):
        return lambda bnn: _values(bnn.posteriors[path]), found
    assert isinstance(posterior, PointPosterior)
    # Components that share their statistics agree on them.
    shared = found if found.ndim == 1 else jnp.mean(found, axis=0)
    return lambda bnn: bnn.posteriors[path].mean, shared


def _values(posterior: Any) -> Array:
    return posterior.values


def _with_posteriors(model: BayesianModel, trained: BayesianModel) -> BayesianModel:
    picked = (trained.posteriors, trained.priors)
    same = jax.tree.map(lambda _, leaf: leaf, (model.posteriors, model.priors), picked)
    return eqx.tree_at(lambda bnn: (bnn.posteriors, bnn.priors), model, same)


def num_statistics(model: BayesianModel) -> int:
    """Stored numbers that are not trained."""
    ends = tuple(pattern.removeprefix("*") for pattern in STATISTICS)
    return sum(q.num_params for path, q in model.posteriors.items() if path.endswith(ends))


def pixels_first(x: Array) -> Array:
    """[height, width] or [height, width, colours] to [colours, height, width]."""
    return x[None] if x.ndim == 2 else jnp.moveaxis(x, -1, 0)


def he_convolution(channels: int, width: int, size: int, stride: int, key: PRNGKey) -> eqx.nn.Conv2d:
    """Without bias, N(0, 2 / fan_in)."""
    layer = eqx.nn.Conv2d(channels, width, size, stride, padding="SAME", use_bias=False, key=key)
    weight = math.sqrt(2 / (channels * size**2)) * jax.random.normal(key, layer.weight.shape)
    return eqx.tree_at(lambda each: each.weight, layer, weight)
