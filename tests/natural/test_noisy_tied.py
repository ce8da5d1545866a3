"""Tied precisions against noisy Adam's, and against the divergence that they are to minimise."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.natural.noisy_tied import Sums, TiedCurvature, absorbed, shares
from plait.posterior import TiedPrecisionPosterior
from plait.site.layout import Layout

RATE = 0.5


def start(rank: int, squares: jax.Array, key: jax.Array) -> TiedPrecisionPosterior:
    weights = {"w": jnp.zeros(squares.shape)}
    bnn = plait.bayesianize(
        weights, jnp.zeros((2, squares.shape[0])), apply=lambda w, x: x @ w["w"], posterior=plait.MeanField(1.0),
        prior=plait.Normal(2.0), key=key,
    )  # fmt: skip
    return TiedCurvature(("w",), rank).make(bnn)["w"]


def settle(value: TiedPrecisionPosterior, squares: jax.Array, steps: int) -> np.ndarray:
    """U V^T after steps with one and the same E[g^2]."""
    step = jax.jit(lambda value: absorbed(value, shares(value, squares), RATE))
    for _ in range(steps):
        value = step(value)
    return np.asarray(value.precision - jnp.exp(value.log_floor))


def test_rank_one_is_the_outer_product_of_row_and_column_sums(key: jax.Array):
    squares = jax.random.uniform(key, (5, 4)) + 0.1
    found = settle(start(1, squares, key), squares, 40)
    np.testing.assert_allclose(found, np.outer(squares.sum(1), squares.sum(0)) / squares.sum(), rtol=1e-4)


def test_a_matrix_of_rank_two_is_found(key: jax.Array):
    u, v = jax.random.uniform(key, (2, 2, 6))
    squares = u.T @ v + 0.01
    value = start(3, squares, key)
    found = settle(value, squares, 3000)
    np.testing.assert_allclose(found, squares, rtol=0.05, atol=0.01)
    # On the way there, as at the end, row and column sums are those of the matrix once the average has forgotten.
    early = settle(value, squares, 60)
    np.testing.assert_allclose(early.sum(0), squares.sum(0), rtol=0.02)
    np.testing.assert_allclose(early.sum(1), squares.sum(1), rtol=0.02)


def test_it_starts_as_wide_as_the_model(key: jax.Array):
    value = start(3, jnp.ones((6, 8)), key)
    np.testing.assert_allclose(np.exp(value.log_floor), 1 / 4, rtol=1e-6)
    assert 0.7 < float(value.precision.mean()) < 1.4


def test_squares_of_zero_leave_a_finite_precision():
    value = TiedPrecisionPosterior(
        jnp.zeros((2, 2)), jnp.zeros((1, 2)), jnp.zeros((1, 2)), jnp.zeros(()), Layout.matrix((2, 2), [0])
    )
    for _ in range(3):
        value = absorbed(value, Sums(*(jnp.zeros((1, 2)),) * 2), 1.0)
    np.testing.assert_allclose(value.precision, 1.0)


def test_one_linear_layer_has_the_precisions_of_noisy_adam(key: jax.Array):
    # Gradients of outputs are independent of inputs there: E[g^2] has rank one.
    x = jax.random.normal(key, (20, 3))
    data = x, x @ jnp.ones((3, 2))
    bnn = plait.bayesianize(
        {"w": jnp.zeros((3, 2))}, x, apply=lambda w, x: x @ w["w"], posterior=plait.MeanField(0.3),
        prior=plait.Normal(0.7), key=key,
    )  # fmt: skip
    options: dict[str, Any] = {"statistics_every": 1, "curvature_rate": 1.0, "fisher": "exact"}

    def run(method: Any) -> Any:
        return plait.fit(
            bnn, data, likelihood=plait.Gaussian(0.5), optimizer=method, steps=3, batch_size=20, key=key
        ).model.posteriors["w"]

    tied, free = run(plait.NoisyTied(**options)), run(plait.NoisyAdam(**options))
    np.testing.assert_allclose(tied.precision, 1 / free.variance, rtol=1e-4)
    assert tied.num_params == 6 + 5 + 1


def test_matrices_are_tied_and_biases_are_not(model: Any):
    prepared = plait.NoisyTied(rank=2).prepare(model)
    assert {row.path: row.posterior for row in prepared.sites} == {
        "w1": "TiedPrecision(2)", "b1": "MeanField", "w2": "TiedPrecision(2)", "b2": "MeanField",
    }  # fmt: skip
    assert plait.NoisyTied(rank=2).prepare(prepared) is prepared
    assert plait.NoisyTied(rank=1).prepare(prepared) is not prepared


@pytest.mark.parametrize("make", [plait.NoisyTied, plait.TiedPrecision])
@pytest.mark.parametrize("rank", [0, -1])
def test_a_rank_is_a_positive_integer(make: Any, rank: Any):
    with pytest.raises(ValueError, match="`rank` must be a positive integer"):
        make(rank=rank)


@pytest.mark.parametrize("rank", [1, 2])
def test_a_row_that_was_dead_comes_back(rank: int, key: jax.Array):
    """Whatever the rate: with 1, one batch without it is enough to be dead."""
    live = 4 + jax.random.uniform(key, (3, 4))
    value = start(rank, live, key)
    dead = live.at[0].set(0.0)
    for squares in (dead, jnp.zeros_like(live), dead, live):
        value = absorbed(value, shares(value, squares), 1.0)
    np.testing.assert_allclose(product(value).sum(axis=1), live.sum(axis=1), rtol=1e-4)
    np.testing.assert_allclose(product(value).sum(axis=0), live.sum(axis=0), rtol=1e-4)


def product(value: TiedPrecisionPosterior) -> np.ndarray:
    return np.asarray(jnp.exp(value.row_log_factor).T @ jnp.exp(value.column_log_factor))
