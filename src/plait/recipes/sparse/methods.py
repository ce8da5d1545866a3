"""The posteriors and priors that paper 002 compares, by the names its tables use."""

from dataclasses import dataclass
from typing import Literal

from plait.posterior import Family, MatrixNormal, MatrixNormalPlusDiagonal, MeanField, Point
from plait.prior import ARD, GroupARD, LearnedNormal, Prior

PosteriorName = Literal["DIAG", "MN", "MN+Diag"]
SparsityName = Literal["none", "independent", "groups", "rows", "columns"]

POSTERIORS: dict[PosteriorName, type[MeanField] | type[MatrixNormal]] = {
    "DIAG": MeanField,
    "MN": MatrixNormal,
    "MN+Diag": MatrixNormalPlusDiagonal,
}
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
        return {"bias": Point(), "*": POSTERIORS[self.posterior](init_scale=init_scale)}

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
        return f"{self.posterior.lower().replace('+', '-')}-{self.sparsity}"
