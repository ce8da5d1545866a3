"""sum_ij log sum_k exp(u_ki + v_kj) at linear cost equals the sum over all pairs."""

import itertools
from collections.abc import Iterator
from typing import Any

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait._compat import ClosedJaxpr, Jaxpr, close
from plait.linalg.sum_log_outer import GRIDS, SMALL, sum_log_outer


def dense(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    rows, columns = np.asarray(rows, np.float64), np.asarray(columns, np.float64)
    return np.logaddexp.reduce(rows[:, :, None] + columns[:, None, :], axis=0)


def logs(rank: int, size: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float32, (rank, size), elements=st.floats(-30, 30, width=32))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_small_matrices_of_any_rank(rank: int):
    @hypothesis.given(logs(rank, 4), logs(rank, 3))
    @hypothesis.settings(deadline=None, max_examples=25)
    def check(rows: np.ndarray, columns: np.ndarray):
        # Single precision loses a few units in the last place of what is added up.
        moduli = columns.shape[1] * np.abs(rows).max(0).sum() + rows.shape[1] * np.abs(columns).max(0).sum()
        value = sum_log_outer(jnp.asarray(rows), jnp.asarray(columns))
        np.testing.assert_allclose(value, dense(rows, columns).sum(), atol=1e-6 * (moduli + 12))

    check()


RANGES = [(2, h) for h in (0.0, 1.0, 3.0, 6.0, 12.0, 13.0)] + [(3, h) for h in (0.0, 1.0, 3.0, 4.0)]


@pytest.mark.parametrize(("rank", "half_range"), RANGES)
def test_large_matrices(rank: int, half_range: float, key: jax.Array):
    # On every grid, at its ends, and beyond. Interpolation multiplies rounding by its Lebesgue constant, for each
    # dimension and side; it leaves 1e-4 of the slopes (MATH 1.1).
    lebesgue = 1 + 2 / np.pi * np.log(GRIDS[rank][-1][1])
    rounding = np.finfo(np.float32).eps * lebesgue ** (2 * (rank - 1))
    sizes = {2: (300, 400), 3: (1100, 1000)}[rank]
    rows, columns = (
        jnp.sin(jnp.arange(float(n)))[None]
        + jax.random.uniform(k, (rank, n), minval=-half_range, maxval=half_range).at[0].set(0)
        for k, n in zip(jax.random.split(key), sizes, strict=True)
    )
    assert rows.shape[1] * columns.shape[1] > SMALL[rank]
    entries = dense(rows, columns)
    value, slopes = jax.value_and_grad(sum_log_outer, argnums=(0, 1))(rows, columns)
    np.testing.assert_allclose(value, entries.sum(), atol=rounding * np.abs(entries).sum())
    share = np.exp(np.asarray(rows, np.float64)[:, :, None] + np.asarray(columns)[:, None, :] - entries[None])
    for slope, exact in zip(slopes, (share.sum(2), share.sum(1)), strict=True):
        np.testing.assert_allclose(slope, exact, atol=1e-4 * exact.max())


def test_the_grids_are_as_fine_as_their_ranges_need():
    # The error of interpolation falls as rho^-nodes with rho = pi / h + sqrt((pi / h)^2 + 1).
    for half_range, nodes in itertools.chain(*GRIDS.values()):
        rho = np.pi / half_range + np.hypot(np.pi / half_range, 1)
        assert rho**-nodes < 1e-7


def test_only_data_that_spread_too_far_visit_every_pair():
    rows, columns = jnp.zeros((2, 300)), jnp.zeros((2, 400))
    (switch,) = (e for e in equations(jax.make_jaxpr(sum_log_outer)(rows, columns)) if e.primitive.name == "cond")
    largest = [max(v.aval.size for e in equations(b) for v in e.outvars) for b in switch.params["branches"]]
    assert len(largest) == len(GRIDS[2]) + 1
    assert max(largest[:-1]) < 300 * 400 <= largest[-1]


def equations(jaxpr: Any) -> Iterator[Any]:
    """All equations of a program and of what it calls."""
    for equation in close(jaxpr)[0].eqns:
        yield equation
        for value in equation.params.values():
            if isinstance(value, ClosedJaxpr | Jaxpr):
                yield from equations(value)
