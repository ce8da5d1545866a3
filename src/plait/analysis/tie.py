"""A matrix of standard deviations as a sum of positive outer products, sigma ~ sum_k exp(u_k) exp(v_k)^T.

The loss, in nats, is what the change does to the posterior, tied from mean field:

    KL(N(M, sigma^2) || N(M, s^2)) = sum_ij [ (sigma / s)^2 / 2 - log(sigma / s) - 1/2 ]

s the given standard deviations. Why this direction: where the expected negative log-likelihood is quadratic about M
with curvature h, a trained mean field has 1 / s^2 = h + 1 / s_p^2, and then the negative ELBO of any other sigma is
larger than that of s by exactly this KL, data and prior included. It counts relative errors, unlike the squared ones
that a singular value decomposition minimises, and u and v need no constraint: every sigma on the way is positive.

rank 1: convex in (u, v); the optimum by alternating closed forms

    u_i <- -1/2 log mean_j exp(2 (v_j - log s_ij)),      v_j likewise.

rank k: from there, the singular vectors p_d, q_d of the log residual say where one product does not suffice. With the
zero-sum orthogonal columns a_d of the simplex, products tilted by a_d p_d and a_d q_d add up to it to second order

    u_k = u - log k + sum_d a_kd p_d,    v_k = v + sum_d a_kd q_d

and conjugate gradients go on from this start inside the positive matrices. (Clipped singular vectors would put the
start on their border, where gradients in log space vanish and the refinement stalls.)

full rank: a product for each column (or row), and nothing is lost.
"""

from dataclasses import dataclass

import numpy as np

ITERATIONS = 500
LARGEST_TILT = 0.5
"""In log units: the second order is all that the start is right to."""
VANISHING = -60.0
"""A logarithm that adds nothing."""


@dataclass(frozen=True, eq=False)
class Ties:
    """Factors, and what they cost."""

    row_log_scale: np.ndarray
    """u: [rank, fan_in]."""
    column_log_scale: np.ndarray
    """v: [rank, fan_out]."""
    loss: float
    """KL from the given standard deviations, in nats."""
    start_loss: float
    """Before the refinement."""

    @property
    def rank(self) -> int:
        return self.row_log_scale.shape[0]

    @property
    def log_std(self) -> np.ndarray:
        """log sigma: [fan_in, fan_out]."""
        return np.logaddexp.reduce(self.row_log_scale[:, :, None] + self.column_log_scale[:, None], axis=0)


def kl_of_stds(log_std: np.ndarray, reference: np.ndarray) -> float:
    """KL in nats between independent Gaussians of the same means, by the logarithms of their standard deviations."""
    gap = log_std - reference
    # (e^2d - 1) / 2 - d, without cancellation for small d.
    return float(np.sum(np.expm1(2 * gap) / 2 - gap))


def tie(log_std: np.ndarray, rank: int, *, iterations: int = ITERATIONS) -> Ties:
    """The factors of a rank, given log s [fan_in, fan_out]."""
    if not 1 <= rank <= min(log_std.shape):
        raise ValueError(
            f"a matrix of {log_std.shape[0]} × {log_std.shape[1]} has ranks from 1 to {min(log_std.shape)}, got {rank}"
        )
    if rank == min(log_std.shape):
        return _untied(log_std)
    rough = _additive_fit(log_std)
    single = _rank_one(log_std, *rough)
    if rank == 1:
        start, factors = rough, single
    else:
        start = _tilted(log_std, *single, rank)
        factors = _refined(log_std, *start, iterations)
    return _finished(log_std, start, factors)


Factors = tuple[np.ndarray, np.ndarray]


def _finished(log_std: np.ndarray, start: Factors, factors: Factors) -> Ties:
    rows, columns = factors
    # Only their sum counts: both sides at the same level.
    shift = (rows.mean(axis=1) - columns.mean(axis=1))[:, None] / 2
    made = Ties(rows - shift, columns + shift, 0.0, 0.0)
    begun = kl_of_stds(Ties(*start, 0.0, 0.0).log_std, log_std)
    return Ties(made.row_log_scale, made.column_log_scale, kl_of_stds(made.log_std, log_std), begun)


def _untied(log_std: np.ndarray) -> Ties:
    """One product for each line of the shorter side."""
    fan_in, fan_out = log_std.shape
    if fan_out <= fan_in:
        factors = log_std.T.copy(), np.where(np.eye(fan_out, dtype=bool), 0.0, VANISHING)
    else:
        factors = np.where(np.eye(fan_in, dtype=bool), 0.0, VANISHING), log_std.copy()
    return _finished(log_std, factors, factors)


def _additive_fit(log_std: np.ndarray) -> Factors:
    """The rank-one start: least squares in log space, where it is means of rows and columns."""
    middle = log_std.mean()
    rows, columns = log_std.mean(axis=1) - middle / 2, log_std.mean(axis=0) - middle / 2
    return rows[None], columns[None]


def _rank_one(log_std: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Factors:
    # Corrections to the fit, so that what is exponentiated is of moderate size.
    precision = np.exp(-2 * (log_std - rows.T - columns))
    left, right = np.ones(log_std.shape[0]), np.ones(log_std.shape[1])
    for _ in range(ITERATIONS):
        before = right
        # Squares of exp(correction): each line solves its half of the problem exactly.
        left = log_std.shape[1] / (precision @ right)
        right = log_std.shape[0] / (left @ precision)
        if np.max(np.abs(np.log(right / before))) < 1e-13:
            break
    return rows + np.log(left) / 2, columns + np.log(right) / 2


def _simplex(rank: int) -> np.ndarray:
    """[rank, rank - 1]: orthogonal columns that add up to zero, each of squared length `rank` (Helmert's)."""
    columns = np.zeros((rank, rank - 1))
    for d in range(1, rank):
        columns[:d, d - 1] = 1
        columns[d, d - 1] = -d
        columns[:, d - 1] *= np.sqrt(rank / (d * (d + 1)))
    return columns


def _tilted(log_std: np.ndarray, rows: np.ndarray, columns: np.ndarray, rank: int) -> Factors:
    left, values, right = np.linalg.svd(log_std - rows.T - columns, full_matrices=False)
    size = np.sqrt(values[: rank - 1])
    corners = _simplex(rank)
    row_tilt = corners @ (left[:, : rank - 1] * size).T
    column_tilt = corners @ (right[: rank - 1] * size[:, None])
    row_tilt, column_tilt = (LARGEST_TILT * np.tanh(tilt / LARGEST_TILT) for tilt in (row_tilt, column_tilt))
    return rows - np.log(rank) + row_tilt, columns + column_tilt


def _refined(log_std: np.ndarray, rows: np.ndarray, columns: np.ndarray, iterations: int) -> Factors:
    # Inside the function: what only one of many uses needs must not slow down `import plait`.
    from scipy.optimize import minimize

    rank, fan_in = rows.shape
    # Relative to the mean of the tilted lines, so that nothing is far from 1.
    row_level, column_level = rows.mean(axis=0), columns.mean(axis=0)
    precision = np.exp(2 * (row_level[:, None] + column_level - log_std))
    constant = -0.5 * np.sum(np.log(precision)) - 0.5 * log_std.size

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        left, right = np.split(np.exp(point).reshape(rank, -1), [fan_in], axis=1)
        sigma = left.T @ right
        weighted = precision * sigma
        value = 0.5 * np.vdot(weighted, sigma) - np.sum(np.log(sigma)) + constant
        slope = weighted - 1 / sigma
        gradient = np.concatenate([left * (right @ slope.T), right * (left @ slope)], axis=1)
        return value, gradient.ravel()

    begin = np.concatenate([rows - row_level, columns - column_level], axis=1).ravel()
    options = {"maxiter": iterations, "gtol": 1e-9}
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        # Not L-BFGS-B, as good and usually as fast: its small matrices are handed to threads, which wait for one
        # another where cores are shared.
        found = minimize(loss, begin, jac=True, method="CG", options=options)
        better = np.all(np.isfinite(found.x)) and found.fun <= loss(begin)[0]
    left, right = np.split((found.x if better else begin).reshape(rank, -1), [fan_in], axis=1)
    return left + row_level, right + column_level
