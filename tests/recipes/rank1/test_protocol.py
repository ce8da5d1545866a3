"""The papers' schedules and scalings."""

import jax.numpy as jnp
import numpy as np
import pytest

from plait.data import Dataset, Pair
from plait.recipes.rank1 import configs


def dataset(count: int = 1280) -> Dataset:
    x = np.random.default_rng(0).random((count, 2, 2, 3)).astype(np.float32)
    pair = Pair(x, np.zeros(count, np.int32))
    return Dataset("none", "classification", pair, None, pair, num_classes=10)


def test_the_learning_rate_warms_up_and_falls_at_rescaled_epochs():
    # Erratum E20: the printed 80, 160 and 180 of 200 are 100, 200 and 225 of 250.
    rate, per_epoch = configs.CIFAR10.schedule(dataset()), 10
    seen = [float(rate(jnp.asarray(round(epoch * per_epoch)))) for epoch in (0, 0.5, 1, 99.9, 100.1, 200.1, 225.1)]
    np.testing.assert_allclose(seen, [0, 0.05, 0.1, 0.1, 0.02, 0.004, 0.0008], rtol=1e-4, atol=1e-8)


def test_imagenet_decays_at_its_own_epochs():
    scaled = [epoch * configs.IMAGENET.epochs / 200 for epoch in configs.IMAGENET.decay_epochs]
    np.testing.assert_allclose(scaled, [45, 90, 120], atol=0.5)


def test_colours_are_standardised_one_by_one():
    data = dataset()
    scaled = configs.CIFAR10.scaling(data)(data.train.x)
    np.testing.assert_allclose(scaled.mean(axis=(0, 1, 2)), 0, atol=1e-4)
    np.testing.assert_allclose(scaled.std(axis=(0, 1, 2)), 1, rtol=1e-3)
    assert configs.EHR.scaling(data)(data.train.x) is data.train.x


@pytest.mark.parametrize(
    ("protocol", "numbers"),
    [
        (configs.CIFAR10, (250, 200, 1e-4, 0.1, 1e-3, -0.5, 0.1, 1e-6)),
        (configs.CIFAR100, (250, 200, 3e-4, 0.1, 1e-3, -1.0, 0.01, 1e-6)),
        (configs.IMAGENET, (135, 90, 1e-4, 0.05, 1e-3, -0.75, 0.005, 1e-6)),
    ],
)
def test_table_5_is_here(protocol, numbers):
    normal, cauchy = protocol.factors, protocol.cauchy
    rest = (normal.prior_scale, normal.dropout_rate, normal.random_sign_init, cauchy.prior_scale, cauchy.dropout_rate)
    assert (protocol.epochs, protocol.kl_epochs, protocol.l2, *rest) == numbers
    assert (protocol.components, protocol.kl_reduction) == (4, "sum")
