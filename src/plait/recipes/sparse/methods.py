"""The posteriors and priors that paper 002 compares, by the names its tables use."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from plait.posterior import Family, MatrixNormal, MatrixNormalPlusDiagonal, MeanField, Point, Tied
from plait.prior import ARD, GroupARD, LearnedNormal, Prior

PosteriorName = Literal["DIAG", "MN", "MN+Diag", "Tied(1)", "Tied(2)", "plain"]
SparsityName = Literal["none", "independent", "groups", "rows", "columns"]

POSTERIORS: dict[PosteriorName, Callable[[float], Family]] = {
    "DIAG": MeanField,
    "MN": lambda scale: MatrixNormal(init_scale=scale),
    "MN+Diag": lambda scale: MatrixNormalPlusDiagonal(init_scale=scale),
    "Tied(1)": lambda scale: Tied(1, scale),
    "Tied(2)": lambda scale: Tied(2, scale),
    # A network without uncertainty, for comparison.
    "plain": lambda scale: Point(),
}
"""By initial standard deviation."""
PRIORS: dict[SparsityName, Prior] = {
    # One learned variance for all weights: section 5.2 of the paper.
    "none": LearnedNormal(0.1, shared=True),
    "independent": ARD(),
    "groups": GroupARD(),
    "rows": GroupARD(columns=False),
    "columns": GroupARD(rows=False),
}
"""What has a variance of its own: all weights together, each weight, each row and each column, or one of the two."""


@dataclass(frozen=True)
class Method:
    """A posterior and a prior."""

    posterior: PosteriorName
    sparsity: SparsityName

    def families(self, init_scale: float) -> dict[str, Family]:
        """For `plait.bayesianize(posterior=...)`: biases are constants, which the paper's counts leave out."""
        return {"bias": Point(), "*": POSTERIORS[self.posterior](init_scale)}

    def prior(self) -> Prior:
        """Of all random weights."""
        return PRIORS[self.sparsity]

    @property
    def title(self) -> str:
        """For lines of figures."""
        return f"{self.posterior}, {self.sparsity}"

    @property
    def folder(self) -> str:
        """A name for a folder."""
        return f"{re.sub('[^a-z0-9]+', '-', self.posterior.lower()).strip('-')}-{self.sparsity}"
