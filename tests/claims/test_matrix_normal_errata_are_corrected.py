"""Paper 002 and its errata E1 to E5 (MATH 5): what the library computes is the dense value, what is printed is not.

W = M + A X B^T is n x m with Cov vec(W) = V (x) U, U = A A^T, V = B B^T and vec stacking columns; the prior is
N(mu_ij, s_ij^2) for each entry.
"""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import equinox as eqx
import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait._compat import ClosedJaxpr, Jaxpr, close
from plait.linalg.cholesky import CholeskyFactor
from plait.linalg.diagonal import DiagonalFactor
from plait.linalg.skinny import LONGEST
from plait.posterior import MatrixNormalPosterior
from plait.posterior.matrix_normal_plus_diagonal import FullNoise, ProductNoise
from plait.site import Layout

ROWS, COLUMNS = 3, 2
LAYOUT = Layout.matrix((ROWS, COLUMNS), [0])
DRAWS = 20_000


def lower(key: jax.Array, size: int) -> jax.Array:
    diagonal = jax.random.uniform(key, (size,), minval=0.5, maxval=1.5)
    return jnp.diag(diagonal) + jnp.tril(jax.random.normal(key, (size, size)), -1)


def dense_kl(q: MatrixNormalPosterior, prior_mean: jax.Array, prior_std: jax.Array) -> float:
    """Between Gaussians over vec(W), columns stacked."""
    covariance = jnp.kron(q.columns.covariance(), q.rows.covariance())
    variance, gap = jnp.square(prior_std).T.reshape(-1), (q.mean - prior_mean).T.reshape(-1)
    log_dets = jnp.sum(jnp.log(variance)) - jnp.linalg.slogdet(covariance)[1]
    return float(0.5 * (log_dets - q.mean.size + jnp.sum((jnp.diagonal(covariance) + gap**2) / variance)))


def algorithm_1(
    q: MatrixNormalPosterior,
    prior_mean: jax.Array,
    prior_std: jax.Array,
    *,
    trace_power: int = -2,
    mean_power: int = -2,
    centred: bool = True,
    constant: bool = True,
    mean_factor: float = 1.0,
) -> float:
    """Paper 002, algorithm 1; the defaults are the corrected reading, each option is one misprint."""
    lower_rows, lower_columns = q.rows.matrix(), q.columns.matrix()
    log_det_prior = 2 * jnp.sum(jnp.log(prior_std))
    log_det_rows, log_det_columns = (jnp.sum(jnp.log(jnp.diagonal(a))) for a in (lower_rows, lower_columns))
    log_det_posterior = 2 * (ROWS * log_det_columns + COLUMNS * log_det_rows)
    variances = jnp.outer(jnp.sum(lower_rows**2, axis=1), jnp.sum(lower_columns**2, axis=1))
    trace = jnp.sum(prior_std**trace_power * variances)
    gap = q.mean - prior_mean if centred else q.mean
    quadratic = mean_factor * jnp.sum(gap**2 * prior_std**mean_power)
    return float(0.5 * (log_det_prior - log_det_posterior + trace + quadratic - constant * q.mean.size))


MISPRINTS: dict[str, dict[str, Any]] = {
    "E1: sigma^-1 in the trace": {"trace_power": -1},
    "E2: Sigma_prior instead of its inverse": {"mean_power": 2},
    "E2: no prior mean": {"centred": False},
    "E2: no -nm": {"constant": False},
    "E2: a second factor 1/2": {"mean_factor": 0.5},
}


def problem(key: jax.Array) -> tuple[MatrixNormalPosterior, jax.Array, jax.Array]:
    """Ranges that keep every misprint at least 0.1 nats away.

    s <= 0.7 makes s^-1 <= 0.7 s^-2, on a trace of at least 6 * 0.5^4 / 0.7^2; M >= 0.5 and mu <= -0.5 make
    M^2 <= (M - mu)^2 - 0.25 - M, on weights s^-2 >= 2.
    """
    keys = jax.random.split(key, 5)
    rows, columns = (CholeskyFactor.from_matrix(lower(k, n)) for k, n in zip(keys[:2], (ROWS, COLUMNS), strict=True))
    mean = jax.random.uniform(keys[2], (ROWS, COLUMNS), minval=0.5, maxval=1.0)
    prior_mean = -jax.random.uniform(keys[3], (ROWS, COLUMNS), minval=0.5, maxval=1.0)
    prior_std = jax.random.uniform(keys[4], (ROWS, COLUMNS), minval=0.3, maxval=0.7)
    return MatrixNormalPosterior(mean, rows, columns, LAYOUT), prior_mean, prior_std


def test_the_kl_is_the_corrected_algorithm_1_and_the_dense_one(key: jax.Array):
    with jax.enable_x64(True):
        q, prior_mean, prior_std = problem(key)
        kl = plait.Normal(prior_std, prior_mean).kl(q, key=None)
        np.testing.assert_allclose(kl, dense_kl(q, prior_mean, prior_std), rtol=1e-10)
        np.testing.assert_allclose(kl, algorithm_1(q, prior_mean, prior_std), rtol=1e-10)


@pytest.mark.parametrize("misprint", MISPRINTS.values(), ids=MISPRINTS)
def test_the_kl_is_not_the_printed_one(misprint: dict[str, Any], key: jax.Array):
    with jax.enable_x64(True):
        q, prior_mean, prior_std = problem(key)
        kl = plait.Normal(prior_std, prior_mean).kl(q, key=None)
        assert abs(kl - algorithm_1(q, prior_mean, prior_std, **misprint)) > 0.1


def test_a_prior_scale_for_each_entry_is_placed_by_column_stacking():
    # E3: vec stacks columns, so sigma of entry (k, l) stands at l n + k, not at k m + l. With U = I and V = diag(1, 4)
    # the printed index moves the trace by (4 - 1) (w_1 - w_4), w = sigma^-2.
    with jax.enable_x64(True):
        stacked = jnp.linspace(0.3, 0.8, ROWS * COLUMNS)
        mean = jnp.zeros((ROWS, COLUMNS))
        q = MatrixNormalPosterior(
            mean, DiagonalFactor(jnp.zeros(ROWS)), DiagonalFactor(jnp.log(jnp.array([1.0, 2.0]))), LAYOUT
        )
        row, column = np.indices((ROWS, COLUMNS))
        scale, printed = stacked[column * ROWS + row], stacked[row * COLUMNS + column]
        kl, wrong = (plait.Normal(s).kl(q, key=None) for s in (scale, printed))
        np.testing.assert_allclose(kl, dense_kl(q, mean, scale), rtol=1e-10)
        weights = stacked**-2.0
        np.testing.assert_allclose(wrong - kl, 0.5 * 3 * (weights[1] - weights[4]), rtol=1e-10)


def test_the_local_draw_has_the_standard_deviation_of_the_projected_rows(key: jax.Array):
    # E4: Var = x^T A A^T x; the printed x^T A x is no variance. Here it is 6 instead of 26, and -2 instead of 10.
    root, column_root = jnp.array([[1.0, 0.0], [-4.0, 1.0]]), jnp.array([[1.0, 0.0], [0.5, 0.5]])
    x = jnp.array([[1.0, -1.0], [1.0, 1.0]])
    bnn = plait.bayesianize(
        jnp.zeros((2, 2)), x, apply=lambda w, x: x @ w, posterior=plait.MatrixNormal(), estimator="local", key=key
    )
    roots = CholeskyFactor.from_matrix(root), CholeskyFactor.from_matrix(column_root)
    bnn = eqx.tree_at(lambda b: (b.posteriors["weight"].rows, b.posteriors["weight"].columns), bnn, roots)
    draws = np.asarray(jax.vmap(lambda k: bnn(x, key=k))(jax.random.split(key, DRAWS)), np.float64)
    sides = np.asarray(x @ root) @ np.asarray(root.T @ x.T), np.asarray(column_root @ column_root.T)
    np.testing.assert_allclose(np.diagonal(sides[0]), [26, 10])
    for row, printed in enumerate((6.0, -2.0)):
        assert float(x[row] @ root @ x[row]) == printed
        centred = draws[:, row] - draws[:, row].mean(0)
        covariance = centred.T @ centred / DRAWS
        expected = sides[0][row, row] * sides[1]
        # The standard error of a Gaussian covariance.
        variance = np.diagonal(expected)
        error = np.sqrt((np.outer(variance, variance) + expected**2) / DRAWS)
        assert np.all(np.abs(covariance - expected) < 6 * error)
        assert np.all(np.abs(covariance - printed * sides[1]) > 6 * error)


def test_the_log_determinant_counts_every_column_and_every_row(key: jax.Array):
    # E5: n sum_j log B_jj, not a sum over i of one B_jj: each of the m diagonal entries of B weighs n, of A m.
    q, _, _ = problem(key)
    gradient = jax.grad(lambda q: q.log_det())(q)
    weights = jnp.diagonal(gradient.columns.matrix()), jnp.diagonal(gradient.rows.matrix())
    np.testing.assert_allclose(jnp.log(weights[0]), jnp.full(COLUMNS, ROWS))
    np.testing.assert_allclose(jnp.log(weights[1]), jnp.full(ROWS, COLUMNS))
    dense = jnp.linalg.slogdet(jnp.kron(q.columns.covariance(), q.rows.covariance()))[1]
    np.testing.assert_allclose(2 * q.log_det(), dense, rtol=1e-4, atol=1e-4)


def equations(jaxpr: Any) -> Iterator[Any]:
    """All equations of a program and of what it calls."""
    for equation in close(jaxpr)[0].eqns:
        yield equation
        for value in equation.params.values():
            if isinstance(value, ClosedJaxpr | Jaxpr):
                yield from equations(value)


def test_a_local_draw_costs_n2_nm_m2_and_m_random_numbers(key: jax.Array, monkeypatch: pytest.MonkeyPatch):
    # E5: O(n^2 + nm + m^2) for each example, not O(nm); the noise is one number for each column.
    # Sides long enough to be matrix products and not sums of a few outer products.
    n, m, batch = LONGEST + 3, LONGEST + 1, 3
    x = jnp.ones((batch, n))
    bnn = plait.bayesianize(
        jnp.zeros((n, m)), x, apply=lambda w, x: x @ w, posterior=plait.MatrixNormal(), estimator="local", key=key
    )
    noise: list[tuple[int, ...]] = []

    def noted(key: jax.Array, shape: tuple[int, ...], dtype: Any) -> jax.Array:
        noise.append(shape)
        return jax.random.normal(key, shape, dtype)

    monkeypatch.setattr("plait.posterior.matrix_normal.normal", noted)
    flops = 0
    for equation in equations(jax.make_jaxpr(lambda k: bnn(x, key=k))(key)):
        if equation.primitive.name == "dot_general":
            size = math.prod(equation.outvars[0].aval.shape)
            (contracted, _), _ = equation.params["dimension_numbers"]
            flops += 2 * size * math.prod(equation.invars[0].aval.shape[axis] for axis in contracted)
    assert flops == 2 * batch * (n**2 + n * m + m**2)
    assert noise == [(batch, m)]


def logs(*shape: int) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float64, shape, elements=st.floats(-2, 2))


def kronecker(rows: np.ndarray, columns: np.ndarray) -> MatrixNormalPosterior:
    """Entries below the diagonal as given, exponentials of those on it."""
    roots = (CholeskyFactor.from_matrix(jnp.tril(a, -1) + jnp.diag(jnp.exp(jnp.diagonal(a)))) for a in (rows, columns))
    return MatrixNormalPosterior(jnp.zeros((ROWS, COLUMNS)), *roots, LAYOUT)


@eqx.filter_jit
def log_dets(q: MatrixNormalPosterior, noise: FullNoise | ProductNoise) -> tuple[jax.Array, ...]:
    """Of U (x) V alone, of the diagonal alone, of their sum by the library and dense."""
    log_std = jnp.log(noise.std(LAYOUT)).reshape(-1)
    dense = jnp.linalg.slogdet(q.covariance() + jnp.diag(jnp.exp(2 * log_std)))[1]
    return 2 * q.log_det(), 2 * jnp.sum(log_std), noise.log_det_with(q), dense


@hypothesis.given(logs(ROWS, ROWS), logs(COLUMNS, COLUMNS), logs(ROWS, COLUMNS))
@hypothesis.settings(max_examples=50, deadline=None)
def test_bounds_lie_between_either_term_and_the_exact_log_determinant_in_their_order(
    rows: np.ndarray, columns: np.ndarray, noise: np.ndarray
):
    with jax.enable_x64(True):
        q, log_std = kronecker(rows, columns), jnp.asarray(noise)
        bounds = {name: log_dets(q, FullNoise(log_std, name)) for name in ("minkowski", "entries", "rows")}
        alone, diagonal, minkowski, exact = bounds["minkowski"]
        ordered = [max(alone, diagonal), minkowski, bounds["entries"][2], bounds["rows"][2], exact]
        assert all(looser <= tighter + 1e-9 for looser, tighter in itertools.pairwise(ordered))


def test_the_bound_by_entries_halves_the_gap_of_minkowskis(key: jax.Array):
    def gaps(key: jax.Array) -> jax.Array:
        first, second, third = (jax.random.normal(k, (ROWS, ROWS)) for k in jax.random.split(key, 3))
        roots = (jnp.linalg.cholesky(a @ a.T + 0.1 * jnp.eye(len(a))) for a in (first, second[:COLUMNS, :]))
        q = MatrixNormalPosterior(
            jnp.zeros((ROWS, COLUMNS)), *(CholeskyFactor.from_matrix(root) for root in roots), LAYOUT
        )
        noises = [FullNoise(third[:, :COLUMNS], name) for name in ("minkowski", "entries", "rows")]
        return jnp.stack([dense - bound for _, _, bound, dense in (log_dets(q, noise) for noise in noises)])

    minkowski, entries, rows = np.mean([gaps(k) for k in jax.random.split(key, 50)], axis=0)
    assert rows < entries < 0.5 * minkowski


@hypothesis.given(logs(ROWS, ROWS), logs(COLUMNS, COLUMNS), logs(ROWS), logs(COLUMNS))
@hypothesis.settings(max_examples=50, deadline=None)
def test_a_product_diagonal_has_the_exact_log_determinant(
    rows: np.ndarray, columns: np.ndarray, row_noise: np.ndarray, column_noise: np.ndarray
):
    with jax.enable_x64(True):
        q = kronecker(rows, columns)
        product = ProductNoise(jnp.asarray(row_noise), jnp.asarray(column_noise))
        _, _, value, exact = log_dets(q, product)
        np.testing.assert_allclose(value, exact, rtol=1e-9, atol=1e-9)
        _, _, bound, _ = log_dets(q, FullNoise(jnp.log(product.std(LAYOUT)), "rows"))
        assert bound <= value + 1e-9
