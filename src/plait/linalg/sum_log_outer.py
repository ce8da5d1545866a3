"""sum_ij log sum_k exp(u_ki + v_kj) at a cost linear in the sizes of u and v (MATH 1.1).

This is the entropy of a k-tied Normal, the only part of a tied step that looks at every entry of the weight.

k = 1: m sum_i u_1i + n sum_j v_1j.

k > 1: with alpha_di = u_(d+1)i - u_1i and beta_dj = v_(d+1)j - v_1j the sum is

    m sum_i u_1i + n sum_j v_1j + S,      S = sum_ij log(1 + sum_d exp(alpha_di + beta_dj))

The summand is analytic in a strip of half-width pi around the real axis, so Chebyshev interpolation in alpha and in
beta separates it: S = w^T F w', F_pq = log(1 + sum_d exp(node_dp + node_dq)), w_p = sum_i prod_d L_p(alpha_di). The
error falls as rho^-nodes with rho = pi / h + sqrt((pi / h)^2 + 1) for data of half-range h. The derivative
dS/dalpha_di = sum_j softmax_d(alpha_i + beta_j) is interpolated in the same way: differentiating the interpolant would
cost a further factor of `nodes` in accuracy.

The grid has nodes^(k - 1) points a side: k = 2 and 3 are worth it. Otherwise, or when the data spread too far, or when
the matrix is small: the direct sum.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, Float, Scalar

GRIDS = {2: ((3.0, 24), (12.0, 64)), 3: ((3.0, 24),)}
"""(largest half-range, nodes) by rank: rho^-nodes is 3e-10 and 6e-8."""

SMALL = {2: 1 << 16, 3: 1 << 20}
"""Entries up to which the direct sum is as fast."""


def sum_log_outer(rows: Float[Array, "k n"], columns: Float[Array, "k m"]) -> Scalar:
    """sum_ij log sum_k exp(rows_ki + columns_kj)."""
    rank, fan_in = rows.shape
    fan_out = columns.shape[-1]
    linear = fan_out * jnp.sum(rows[0]) + fan_in * jnp.sum(columns[0])
    if rank == 1:
        return linear
    if rank in GRIDS and fan_in * fan_out > SMALL[rank]:
        return linear + sum_log1p_outer(rows[1:] - rows[:1], columns[1:] - columns[:1])
    return direct_sum_log_outer(rows, columns)


def direct_sum_log_outer(rows: Float[Array, "k n"], columns: Float[Array, "k m"]) -> Scalar:
    """The same by visiting every pair; one fused loop, nothing of the weight's size is kept forward."""
    total = rows[0][:, None] + columns[0][None]
    for row, column in zip(rows[1:], columns[1:], strict=True):
        total = jnp.logaddexp(total, row[:, None] + column[None])
    return jnp.sum(total)


@jax.custom_jvp
def sum_log1p_outer(rows: Float[Array, "d n"], columns: Float[Array, "d m"]) -> Scalar:
    """sum_ij log(1 + sum_d exp(rows_di + columns_dj))."""
    return _on_grid(_grid_value, _direct_value, rows, columns)


@sum_log1p_outer.defjvp
def _sum_log1p_outer_jvp(primals, tangents):
    rows, columns = primals
    row_gradient, column_gradient = _on_grid(_grid_gradient, _direct_gradient, rows, columns)
    tangent = jnp.vdot(row_gradient, tangents[0]) + jnp.vdot(column_gradient, tangents[1])
    return sum_log1p_outer(rows, columns), tangent


def _on_grid(on_grid, direct, rows, columns):
    """Run on the coarsest sufficient grid, or directly when the data spread too far."""
    grids = GRIDS[rows.shape[0] + 1]
    spread = jnp.max(jnp.maximum(jnp.ptp(rows, axis=1), jnp.ptp(columns, axis=1))) / 2
    which = sum((spread > limit).astype(jnp.int32) for limit, _ in grids)
    branches = [partial(on_grid, nodes) for _, nodes in grids] + [direct]
    return jax.lax.switch(which, branches, rows, columns)


def _log1p_sum_exp(logits: Float[Array, "d n m"]) -> Float[Array, "n m"]:
    """log(1 + sum_d exp(logits_d))."""
    total = jax.nn.softplus(logits[0])
    for logit in logits[1:]:
        total = jnp.logaddexp(total, logit)
    return total


def _shares(logits: Float[Array, "d n m"]) -> Float[Array, "d n m"]:
    """Its derivative: exp(logits_d) / (1 + sum_d exp(logits_d))."""
    return jnp.exp(logits - _log1p_sum_exp(logits)[None])


def _pairs(rows: Float[Array, "d n"], columns: Float[Array, "d m"]) -> Float[Array, "d n m"]:
    return rows[:, :, None] + columns[:, None]


def _direct_value(rows: Array, columns: Array) -> Scalar:
    return jnp.sum(_log1p_sum_exp(_pairs(rows, columns)))


def _direct_gradient(rows: Array, columns: Array) -> tuple[Array, Array]:
    shares = _shares(_pairs(rows, columns))
    return jnp.sum(shares, axis=2), jnp.sum(shares, axis=1)


def _grid_value(nodes: int, rows: Array, columns: Array) -> Scalar:
    row_nodes, row_basis = _grid(nodes, rows)
    column_nodes, column_basis = _grid(nodes, columns)
    values = _log1p_sum_exp(_pairs(row_nodes, column_nodes))
    return jnp.sum(row_basis, axis=1) @ values @ jnp.sum(column_basis, axis=1)


def _grid_gradient(nodes: int, rows: Array, columns: Array) -> tuple[Array, Array]:
    row_nodes, row_basis = _grid(nodes, rows)
    column_nodes, column_basis = _grid(nodes, columns)
    shares = _shares(_pairs(row_nodes, column_nodes))
    row_gradient = (shares @ jnp.sum(column_basis, axis=1)) @ row_basis
    column_gradient = (jnp.sum(row_basis, axis=1) @ shares) @ column_basis
    return row_gradient, column_gradient


def _grid(nodes: int, points: Float[Array, "d n"]) -> tuple[Float[Array, "d p"], Float[Array, "p n"]]:
    """The product of the dimensions' Chebyshev nodes, and the products of their Lagrange polynomials at the points."""
    axes, bases = zip(*(_lagrange_basis(nodes, row) for row in points), strict=True)
    grid, product = axes[0][None], bases[0]
    for axis, basis in zip(axes[1:], bases[1:], strict=True):
        grid = jnp.concatenate([jnp.repeat(grid, nodes, axis=1), jnp.tile(axis, grid.shape[1])[None]])
        product = (product[:, None] * basis[None]).reshape(-1, points.shape[1])
    return grid, product


def _lagrange_basis(nodes: int, points: Float[Array, " n"]) -> tuple[Array, Float[Array, "nodes n"]]:
    """Chebyshev nodes on the range of the points, and the Lagrange polynomials L_p at the points.

    L_p(x) = (2 / nodes) sum'_m T_m(node_p) T_m(x), the first term halved; T_m by the three-term recurrence, whose
    gradient is finite at the ends of the range, where that of cos(m arccos x) is not.
    """
    lowest = jax.lax.stop_gradient(jnp.min(points))
    highest = jax.lax.stop_gradient(jnp.max(points))
    middle = (lowest + highest) / 2
    # Equal points have no range; any positive one serves.
    half = jnp.maximum((highest - lowest) / 2, jnp.asarray(1e-3, points.dtype))
    scaled = (points - middle) / half

    # In double precision, before the program runs: m * angle reaches 64 pi, whose cosine single precision blurs.
    angles = (np.arange(nodes) + 0.5) * (np.pi / nodes)
    weights = np.cos(np.outer(np.arange(nodes), angles)) * (2 / nodes)
    weights[0] /= 2

    def next_polynomial(carry, _):
        current, previous = carry
        return (2 * scaled * current - previous, current), current

    one = jnp.ones_like(scaled)
    # T_-1 = T_1 = x, so that the recurrence yields T_0, T_1, T_2, ... from its first step.
    _, polynomials = jax.lax.scan(next_polynomial, (one, scaled), None, length=nodes)
    basis = weights.T.astype(points.dtype) @ polynomials
    # The polynomials add up to one; that they do so in single precision too removes most of its error.
    basis = basis / jnp.sum(basis, axis=0, keepdims=True)
    return middle + half * np.cos(angles).astype(points.dtype), basis
