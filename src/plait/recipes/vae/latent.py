"""An encoder's numbers as a posterior over latents z = vec(Z), Z [n, m]:

    Z = M + A E B^T,      E standard normal      log q(Z) = -1/2 |E|^2 - nm/2 log 2 pi - n log|B| - m log|A|

    DIAG    |z| x 1, A diagonal                     2 |z| numbers
    MN      n x m, A and B lower triangular         nm + n(n+1)/2 + m(m+1)/2
    MV      |z| x 1, A lower triangular             |z| + |z|(|z|+1)/2

All three are matrix normals of `plait.posterior` with factors of `plait.linalg`, whose numbers come out of a network
instead of being trained. Where m = 1, B is left at 1: its scale is already in A.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import jax.numpy as jnp

from plait._typing import Array, Scalar
from plait.linalg.cholesky import CholeskyFactor
from plait.linalg.diagonal import DiagonalFactor
from plait.linalg.factor import Factor
from plait.linalg.triangular import packed_shape
from plait.posterior.matrix_normal import MatrixNormalPosterior
from plait.site import Layout

Head: TypeAlias = Literal["DIAG", "MN", "MV"]
LOG_2_PI = math.log(2 * math.pi)


@dataclass(frozen=True)
class Latent:
    """The shape of the latents, and the structure of their covariance."""

    head: Head
    rows: int
    """n."""
    columns: int
    """m; for DIAG and MV, which have no such shape, only the product counts."""

    def __post_init__(self):
        if self.head not in ("DIAG", "MN", "MV"):
            raise ValueError(f"`head` must be 'DIAG', 'MN' or 'MV', got {self.head!r}")
        if min(self.rows, self.columns) < 1:
            raise ValueError(f"latents need at least one row and column, got {self.rows} x {self.columns}")

    @property
    def size(self) -> int:
        """|z|."""
        return self.rows * self.columns

    @property
    def shape(self) -> tuple[int, int]:
        """Of Z."""
        return (self.rows, self.columns) if self.head == "MN" else (self.size, 1)

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of the mean, of A and of B."""
        rows, columns = self.shape
        if self.head == "DIAG":
            return self.size, rows, 0
        return self.size, rows * (rows + 1) // 2, columns * (columns + 1) // 2 if columns > 1 else 0

    @property
    def num_outputs(self) -> int:
        """Of the encoder."""
        return sum(self.counts)

    def posterior(self, outputs: Array) -> MatrixNormalPosterior:
        """q(Z | x) of one example, from the encoder's outputs for it; zeros are the standard normal."""
        mean, first, second = jnp.split(outputs, (self.counts[0], sum(self.counts[:2])))
        rows, columns = self.shape
        left = DiagonalFactor(first) if self.head == "DIAG" else _triangle(first, rows)
        right = _triangle(second, columns) if second.size else DiagonalFactor(jnp.zeros_like(outputs[:1]))
        return MatrixNormalPosterior(mean.reshape(self.shape), left, right, Layout.matrix(self.shape, (0,)))


def _triangle(numbers: Array, size: int) -> Factor:
    return CholeskyFactor(numbers.reshape(packed_shape(size)), size)


def draw(posterior: MatrixNormalPosterior, noise: Array) -> tuple[Array, Scalar]:
    """Z for noise E of its shape, and log q(Z), which needs no solve."""
    log_prob = -0.5 * jnp.sum(jnp.square(noise)) - posterior.log_det() - 0.5 * LOG_2_PI * noise.size
    return posterior.mean + posterior.deviation(noise), log_prob
