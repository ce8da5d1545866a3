"""sum_ij log sum_k exp(u_ki + v_kj) at a cost linear in the sizes of u and v (MATH 1.1).

This is the entropy of a k-tied Normal, the only part of a tied step that looks at every entry of the weight.

k = 1: m sum_i u_i + n sum_j v_j.

k = 2: with alpha_i = u_2i - u_1i and beta_j = v_2j - v_1j the sum is

    m sum_i u_1i + n sum_j v_1j + sum_ij softplus(alpha_i + beta_j).

softplus(alpha + beta) is analytic in a strip of half-width pi around the real axis, so Chebyshev interpolation in
alpha and in beta separates it: S = w^T F w', F_pq = softplus(node_p + node_q), w_p = sum_i L_p(alpha_i). The error
falls as rho^-nodes with rho = pi / h + sqrt((pi / h)^2 + 1) for data of half-range h. The derivative
dS/dalpha_i = sum_j sigmoid(alpha_i + beta_j) is interpolated in the same way rather than obtained by differentiating
the interpolant, which costs a further factor of `nodes` in accuracy.

Otherwise, or when the data spread too far, or when the matrix is small: the direct sum.
"""

from functools import partial

import jax
import jax.numpy as jnp

from plait._typing import Array, Float, Scalar

SMALL = 1 << 16
"""Entries below which the direct sum is as fast."""

GRIDS = ((3.0, 24), (12.0, 64))
"""(largest half-range, nodes): rho^-nodes is 3e-10 and 6e-8."""


def sum_log_outer(rows: Float[Array, "k n"], columns: Float[Array, "k m"]) -> Scalar:
    """sum_ij log sum_k exp(rows_ki + columns_kj)."""
    rank, fan_in = rows.shape
    fan_out = columns.shape[-1]
    if rank == 1:
        return fan_out * jnp.sum(rows) + fan_in * jnp.sum(columns)
    if rank == 2 and fan_in * fan_out > SMALL:
        linear = fan_out * jnp.sum(rows[0]) + fan_in * jnp.sum(columns[0])
        return linear + sum_softplus_outer(rows[1] - rows[0], columns[1] - columns[0])
    return direct_sum_log_outer(rows, columns)


def direct_sum_log_outer(rows: Float[Array, "k n"], columns: Float[Array, "k m"]) -> Scalar:
    """The same by visiting every pair; one fused loop, nothing of the weight's size is kept forward."""
    total = rows[0][:, None] + columns[0][None]
    for row, column in zip(rows[1:], columns[1:], strict=True):
        total = jnp.logaddexp(total, row[:, None] + column[None])
    return jnp.sum(total)


@jax.custom_jvp
def sum_softplus_outer(rows: Float[Array, " n"], columns: Float[Array, " m"]) -> Scalar:
    """sum_ij softplus(rows_i + columns_j)."""
    return _on_grid(_grid_value, _direct_value, rows, columns)


@sum_softplus_outer.defjvp
def _sum_softplus_outer_jvp(primals, tangents):
    rows, columns = primals
    row_gradient, column_gradient = _on_grid(_grid_gradient, _direct_gradient, rows, columns)
    tangent = jnp.vdot(row_gradient, tangents[0]) + jnp.vdot(column_gradient, tangents[1])
    return sum_softplus_outer(rows, columns), tangent


def _on_grid(on_grid, direct, rows, columns):
    """Run on the coarsest sufficient grid, or directly when the data spread too far."""
    spread = jnp.maximum(jnp.ptp(rows), jnp.ptp(columns)) / 2
    which = sum((spread > limit).astype(jnp.int32) for limit, _ in GRIDS)
    branches = [partial(on_grid, nodes) for _, nodes in GRIDS] + [direct]
    return jax.lax.switch(which, branches, rows, columns)


def _direct_value(rows: Array, columns: Array) -> Scalar:
    return jnp.sum(jax.nn.softplus(rows[:, None] + columns[None]))


def _direct_gradient(rows: Array, columns: Array) -> tuple[Array, Array]:
    slope = jax.nn.sigmoid(rows[:, None] + columns[None])
    return jnp.sum(slope, axis=1), jnp.sum(slope, axis=0)


def _grid_value(nodes: int, rows: Array, columns: Array) -> Scalar:
    row_nodes, row_basis = _lagrange_basis(nodes, rows)
    column_nodes, column_basis = _lagrange_basis(nodes, columns)
    values = jax.nn.softplus(row_nodes[:, None] + column_nodes[None])
    return jnp.sum(row_basis, axis=1) @ values @ jnp.sum(column_basis, axis=1)


def _grid_gradient(nodes: int, rows: Array, columns: Array) -> tuple[Array, Array]:
    row_nodes, row_basis = _lagrange_basis(nodes, rows)
    column_nodes, column_basis = _lagrange_basis(nodes, columns)
    slopes = jax.nn.sigmoid(row_nodes[:, None] + column_nodes[None])
    row_gradient = (slopes @ jnp.sum(column_basis, axis=1)) @ row_basis
    column_gradient = (jnp.sum(row_basis, axis=1) @ slopes) @ column_basis
    return row_gradient, column_gradient


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

    angles = (jnp.arange(nodes, dtype=points.dtype) + 0.5) * (jnp.pi / nodes)
    at_nodes = jnp.cos(jnp.outer(jnp.arange(nodes, dtype=points.dtype), angles))
    weights = (at_nodes * (2 / nodes)).at[0].multiply(0.5)

    def next_polynomial(carry, _):
        current, previous = carry
        return (2 * scaled * current - previous, current), current

    one = jnp.ones_like(scaled)
    # T_-1 = T_1 = x, so that the recurrence yields T_0, T_1, T_2, ... from its first step.
    _, polynomials = jax.lax.scan(next_polynomial, (one, scaled), None, length=nodes)
    return middle + half * jnp.cos(angles), weights.T @ polynomials
