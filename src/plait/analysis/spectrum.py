"""How many directions a weight's means and standard deviations have: their singular values (paper 001, figures 1, 5).

    explained variance of component k:  e_k = s_k^2 / sum_i s_i^2           (paper 001, footnote 1)
    effective rank:                     exp(-sum_k e_k log e_k)

The effective rank is 1 for a matrix of rank one and min(n, m) where all singular values are equal. All entries of a
matrix of standard deviations are positive, so its first component is large whatever its structure; what a low rank
costs is measured by `compress`, in nats.
"""

import os
from dataclasses import dataclass

import numpy as np

from plait._table import Table, write_csv
from plait.analysis.weight_matrices import weight_matrices
from plait.model import BayesianModel


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The singular values of one matrix, largest first."""

    singular_values: np.ndarray

    @classmethod
    def of(cls, matrix: np.ndarray) -> "Spectrum":
        """Of a matrix."""
        return cls(np.linalg.svd(matrix, compute_uv=False))

    @property
    def explained(self) -> np.ndarray:
        """The explained variance of each component; zeros for a matrix of zeros."""
        largest = self.singular_values[0]
        # Relative to the largest: squares of small values would underflow.
        squares = np.square(self.singular_values / largest) if largest > 0 else np.zeros_like(self.singular_values)
        return squares / squares.sum() if largest > 0 else squares

    @property
    def effective_rank(self) -> float:
        """How many equal singular values would be as spread out; 0 for a matrix of zeros."""
        explained = self.explained[self.explained > 0]
        return float(np.exp(-np.sum(explained * np.log(explained)))) if explained.size else 0.0

    def rank_for(self, share: float) -> int:
        """The smallest rank that explains a share of the variance."""
        if not 0 < share <= 1:
            raise ValueError(f"`share` is a part of the variance, in (0, 1], got {share!r}")
        return int(np.argmax(np.cumsum(self.explained) >= share * (1 - 1e-12))) + 1


@dataclass(frozen=True, eq=False)
class WeightSpectra:
    """The spectra of one weight."""

    path: str
    kind: str
    shape: tuple[int, int]
    """Of the matrix: fan-in, fan-out."""
    means: Spectrum
    stds: Spectrum | None
    """None for a constant, and where there is no variance."""

    @property
    def by_name(self) -> dict[str, Spectrum]:
        """Those there are."""
        return {"means": self.means} | ({} if self.stds is None else {"stds": self.stds})


@dataclass(frozen=True, eq=False)
class Spectra:
    """The spectra of a model; `print` it for a table."""

    weights: tuple[WeightSpectra, ...]

    def __getitem__(self, path: str) -> WeightSpectra:
        found = {weight.path: weight for weight in self.weights}
        if path not in found:
            raise KeyError(f"no spectrum of {path!r}; there are those of {', '.join(found)}")
        return found[path]

    def table(self) -> Table:
        """The variance that the first one, two and three components explain together, and the effective rank."""
        rows = []
        for weight in self.weights:
            for name, spectrum in weight.by_name.items():
                total = np.cumsum(spectrum.explained)
                shares = [f"{100 * total[min(k, len(total)) - 1]:.2f} %" for k in (1, 2, 3)]
                sizes = (weight.path, weight.kind, " × ".join(map(str, weight.shape)), name)
                rows.append((*sizes, *shares, f"{spectrum.effective_rank:.2f}"))
        return Table(("weight", "kind", "matrix", "of", "first", "two", "three", "effective rank"), rows, left=4)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """A line for each singular value."""
        rows = [
            {
                "weight": weight.path,
                "kind": weight.kind,
                "fan_in": weight.shape[0],
                "fan_out": weight.shape[1],
                "of": name,
                "component": index + 1,
                "singular_value": float(spectrum.singular_values[index]),
                "explained_variance": float(spectrum.explained[index]),
            }
            for weight in self.weights
            for name, spectrum in weight.by_name.items()
            for index in range(len(spectrum.singular_values))
        ]
        write_csv(path, rows)

    def __str__(self) -> str:
        return self.table().text()


def spectra(bnn: BayesianModel) -> Spectra:
    """The singular values of the means and standard deviations of every weight that has a fan-in side."""
    return Spectra(
        tuple(
            WeightSpectra(
                weight.path,
                weight.kind,
                (weight.mean.shape[0], weight.mean.shape[1]),
                Spectrum.of(weight.mean),
                None if weight.std is None else Spectrum.of(weight.std),
            )
            for weight in weight_matrices(bnn)
        )
    )
