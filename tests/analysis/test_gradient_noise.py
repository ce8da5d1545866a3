"""Variance and signal of gradients whose distribution is known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.analysis.gradient_noise import gradient_noise, noise_table


@pytest.fixture(scope="module")
def bnn() -> plait.BayesianModel:
    weights = {"w": jnp.asarray([[1.0, 2.0], [3.0, 4.0]])}
    return plait.bayesianize(
        weights, jnp.zeros((2, 2)), apply=lambda p, x: x @ p["w"], posterior=plait.MeanField(0.1), key=jax.random.key(0)
    )


def test_means_have_the_variance_and_the_signal_of_their_gradients(bnn, key):
    def loss(bnn, key):
        # The gradient for the means is 1 + 2 eps for each of four entries: variance 4 and signal 1 each.
        slope = 1 + 2 * jax.random.normal(key, (2, 2))
        return jnp.sum(slope * bnn.mean()["w"])

    rows = {row.group: row for row in gradient_noise(loss, bnn, key=key, draws=4000)}
    assert set(rows) == {"means", "log stds"}
    found = rows["means"]
    assert (found.weight, found.size) == ("w", 4)
    assert found.variance == pytest.approx(16, rel=0.15)
    assert found.signal == pytest.approx(4, rel=0.2)
    assert found.ratio == pytest.approx(found.variance / found.signal)
    # The loss does not depend on the spreads: nothing to divide by.
    assert (rows["log stds"].variance, rows["log stds"].signal) == (0, 0)
    assert rows["log stds"].ratio == float("inf")


def test_local_reparametrisation_lowers_the_variance_and_keeps_the_signal(key):
    x = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
    found = {}
    for estimator in ("weights", "local"):
        bnn = plait.bayesianize(
            {"w": jnp.ones((3, 1))},
            x[:2],
            apply=lambda p, x: x @ p["w"],
            posterior=plait.MeanField(0.5),
            estimator=estimator,
            key=key,
        )
        (found[estimator],) = (
            row
            for row in gradient_noise(lambda bnn, k: jnp.mean(bnn(x, key=k) ** 2), bnn, key=key, draws=2000)
            if row.group == "means"
        )
    assert found["local"].variance < 0.2 * found["weights"].variance
    assert found["local"].signal == pytest.approx(found["weights"].signal, rel=0.15)


def test_the_table_has_a_line_for_each_group(bnn, key):
    table = noise_table(gradient_noise(lambda bnn, k: jnp.sum(bnn.mean()["w"]), bnn, key=key, draws=2))
    assert [row[:3] for row in table.rows] == [("w", "means", "4"), ("w", "log stds", "4")]


@pytest.mark.parametrize("draws", [1, True, 2.0])
def test_one_draw_has_no_variance(bnn, key, draws, unchecked):
    with pytest.raises(ValueError, match="`draws` is a number of gradients that has a variance, at least 2"):
        gradient_noise(lambda bnn, k: 0.0, bnn, key=key, draws=draws)
