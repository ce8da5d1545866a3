"""Positive factors: exact where they can be, never worse than their start, better than a plain decomposition."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from plait.analysis.low_rank import low_rank
from plait.analysis.tie import kl_of_stds, tie

SIZES = st.integers(2, 12)
SEEDS = st.integers(0, 2**31 - 1)


def random_log_std(fan_in: int, fan_out: int, seed: int, spread: float) -> np.ndarray:
    return spread * np.random.default_rng(seed).normal(size=(fan_in, fan_out)) - 3


@hypothesis.given(SIZES, SIZES, SEEDS, st.floats(0.01, 2), st.data())
@hypothesis.settings(max_examples=40, deadline=None)
def test_refinement_never_loses_and_all_stays_positive(
    fan_in: int, fan_out: int, seed: int, spread: float, data: st.DataObject
):
    log_std = random_log_std(fan_in, fan_out, seed, spread)
    rank = data.draw(st.integers(1, min(fan_in, fan_out)))
    ties = tie(log_std, rank, iterations=50)
    assert ties.rank == rank
    assert 0 <= ties.loss <= ties.start_loss * (1 + 1e-9) + 1e-12
    assert np.isfinite(ties.log_std).all()
    assert (np.exp(ties.row_log_scale).min(), np.exp(ties.column_log_scale).min()) > (0, 0)
    np.testing.assert_allclose(kl_of_stds(ties.log_std, log_std), ties.loss)


@hypothesis.given(SIZES, SIZES, SEEDS, st.floats(0.01, 3))
@hypothesis.settings(max_examples=25, deadline=None)
def test_full_rank_loses_nothing(fan_in: int, fan_out: int, seed: int, spread: float):
    log_std = random_log_std(fan_in, fan_out, seed, spread)
    ties = tie(log_std, min(fan_in, fan_out))
    np.testing.assert_allclose(ties.log_std, log_std, atol=1e-9)
    assert ties.loss < 1e-12


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("example", range(4))
def test_what_has_the_rank_is_found_again(tools, rank: int, example: int):
    matrix = tools.positive_of_rank(rank, 30, 20, seed=example)
    ties = tie(np.log(matrix), rank)
    # Of 600 entries, whose loss one rank below is tens of nats.
    assert ties.loss < 1e-3
    if rank > 1:
        assert tie(np.log(matrix), rank - 1).loss > 1


@hypothesis.given(SEEDS)
@hypothesis.settings(max_examples=10, deadline=None)
def test_rank_one_is_the_optimum(seed: int):
    # The loss is convex there, so no step from it may help.
    log_std = random_log_std(7, 5, seed, 0.5)
    ties = tie(log_std, 1)
    rng = np.random.default_rng(seed)
    for size in (1e-3, 1e-1):
        moved = ties.log_std + size * (rng.normal(size=(7, 1)) + rng.normal(size=(1, 5)))
        assert kl_of_stds(moved, log_std) >= ties.loss


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_it_beats_the_plain_decomposition(tools, rank: int):
    # Like trained ones: of low rank up to a few per cent.
    rng = np.random.default_rng(0)
    matrix = tools.positive_of_rank(3, 40, 30, seed=1) * np.exp(0.05 * rng.normal(size=(40, 30)))
    log_std = np.log(matrix)
    plain = kl_of_stds(np.log(np.maximum(low_rank(matrix, rank), 1e-5)), log_std)
    assert tie(log_std, rank).loss < 0.9 * plain


def test_the_loss_is_the_divergence_of_gaussians():
    sigma, s = np.array([[0.3, 2.0]]), np.array([[0.5, 1.0]])
    expected = np.sum(np.log(s / sigma) + sigma**2 / (2 * s**2) - 0.5)
    assert kl_of_stds(np.log(sigma), np.log(s)) == pytest.approx(expected)
    assert kl_of_stds(np.log(s) + 1e-9, np.log(s)) == pytest.approx(2e-18, rel=1e-6)


def test_a_matrix_of_lower_rank_is_no_trouble(tools):
    log_std = np.log(tools.positive_of_rank(1, 9, 8, seed=0))
    assert tie(log_std, 3).loss < 1e-9
    assert tie(np.full((4, 5), -2.0), 2).loss < 1e-12


def test_a_wide_range_stays_finite():
    ties = tie(random_log_std(20, 15, 0, 8.0), 2)
    assert np.isfinite(ties.loss)
    assert ties.loss <= ties.start_loss


@pytest.mark.parametrize("rank", [0, 6])
def test_a_rank_the_matrix_cannot_have_is_refused(rank: int):
    with pytest.raises(ValueError, match=rf"a matrix of 7 × 5 has ranks from 1 to 5, got {rank}"):
        tie(np.zeros((7, 5)), rank)
