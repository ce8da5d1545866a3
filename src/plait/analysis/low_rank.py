"""Matrices of standard deviations beside their best approximations of low rank (paper 001, figure 4).

A_r = sum_{k <= r} s_k a_k b_k^T        the singular value decomposition, cut off; its entries need not be positive
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from plait.analysis.weight_matrices import weight_matrices
from plait.model import BayesianModel


def low_rank(matrix: np.ndarray, rank: int) -> np.ndarray:
    """The nearest matrix of a rank, by the sum of squared differences."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return (left[:, :rank] * values[:rank]) @ right[:rank]


@dataclass(frozen=True, eq=False)
class StdApproximations:
    """What heat maps show."""

    path: str
    std: np.ndarray
    """[fan_in, fan_out]."""
    by_rank: dict[int, np.ndarray]
    """As they come out of the decomposition: entries may be negative."""

    def relative_error(self, rank: int) -> float:
        """|A - A_r| / |A|, in the Frobenius norm."""
        return float(np.linalg.norm(self.std - self.by_rank[rank]) / np.linalg.norm(self.std))


def approximate_stds(bnn: BayesianModel, ranks: Iterable[int] = (1, 2)) -> list[StdApproximations]:
    """The standard deviations of every weight that has a fan-in side, and their approximations."""
    wanted = tuple(check_rank(rank) for rank in ranks)
    found = [
        StdApproximations(weight.path, weight.std, {rank: low_rank(weight.std, rank) for rank in wanted})
        for weight in weight_matrices(bnn)
        if weight.std is not None
    ]
    if not found:
        raise ValueError("no weight of this model has standard deviations to approximate: all are constants")
    return found


def check_rank(rank: object) -> int:
    """Refuse what is no rank."""
    if isinstance(rank, bool) or not isinstance(rank, int) or rank < 1:
        raise ValueError(f"`rank` must be a positive integer, got {rank!r}")
    return rank
