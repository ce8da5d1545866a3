"""Small models, histories and curves to draw."""

import equinox as eqx
import jax
import numpy as np
import pytest

from plait.fit import History
from plait.metrics import reliability_curve
from plait.model import bayesianize


@pytest.fixture
def bnn():
    network = eqx.nn.MLP(2, 3, 4, 1, key=jax.random.key(0))
    return bayesianize(network, np.zeros((2, 2), np.float32), key=jax.random.key(1))


@pytest.fixture
def curve():
    generator = np.random.default_rng(0)
    probabilities = generator.dirichlet(np.ones(3), 200)
    return reliability_curve(probabilities, generator.integers(0, 3, 200), 5)


@pytest.fixture
def history():
    def row(epoch):
        losses = {"nll": 1 / epoch, "kl": 3.0, "negative_elbo": 2 / epoch, "kl_weight": min(1.0, epoch / 5)}
        looks = {"nll": 1.1 / epoch, "negative_elbo": 2.1 / epoch, "accuracy": 1 - 1 / epoch}
        looks = {f"validation_{name}": value for name, value in looks.items()}
        return {"step": 2 * epoch, "epoch": epoch} | losses | looks | {"steps_per_second": 10.0}

    return History([row(epoch) for epoch in range(1, 11)])
