"""Batch normalisation in a mixture: of each component or shared, in training and in predicting."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.data import Dataset, Pair
from plait.posterior import PointPosterior
from plait.posterior.rank_one import ComponentVector
from plait.recipes.rank1 import configs
from plait.recipes.rank1.batch_norm import BatchNorm, collect_statistics, num_statistics
from plait.recipes.rank1.methods import rank_one
from plait.recipes.rank1.protocol import Protocol


class Tiny(eqx.Module):
    """A dense layer and a norm."""

    dense: eqx.nn.Linear
    norm: BatchNorm

    def __call__(self, x: jax.Array):
        seen = {}
        y = self.norm(self.dense(x.reshape(-1)), seen)
        return (y, seen) if seen else y


def tiny(dataset: Dataset, key: jax.Array) -> Tiny:
    return Tiny(eqx.nn.Linear(4, 3, key=key), BatchNorm.of(3))


@pytest.mark.parametrize("shared", [False, True])
def test_what_predicts_has_the_statistics_of_training(shared: bool, key: jax.Array):
    protocol = Protocol("tiny", "none", tiny, components=2, shared_norms=shared)
    x = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)
    pair = Pair(x, np.zeros(16, np.int32))
    dataset = Dataset("none", "classification", pair, None, pair, num_classes=3)
    # Next to no noise, so that batches of both modes see the same.
    method = rank_one(protocol, dataclasses.replace(protocol.factors, dropout_rate=1e-9), "rank-1")
    train, collect, predict = (
        method.build(protocol, dataset, mode, key=key) for mode in ("train", "collect", "predict")
    )
    model = collect_statistics(train, collect, predict, x, key=key, batch_size=16)
    kind = PointPosterior if shared else ComponentVector
    assert isinstance(model.posteriors["norm.stored_mean"], kind)
    assert num_statistics(model) == (1 if shared else 2) * 2 * 3
    y = train(x, key=key)
    np.testing.assert_allclose(y, model(x, key=key), rtol=1e-2, atol=1e-2)
    by_component = jnp.abs(jnp.mean(y, axis=1))
    assert bool(jnp.all(by_component < 1e-4)) != shared
    np.testing.assert_allclose(jnp.mean(y, axis=(0, 1)), 0, atol=1e-4)


def test_no_optimizer_changes_the_statistics():
    protocol = configs.shrunk(configs.CIFAR10_SMALL)
    assert "*.stored_mean" in protocol.optimizer.__globals__["STATISTICS"]
