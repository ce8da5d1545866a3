"""A number with its standard error over examples: se(mean t) = std(t, ddof=1) / sqrt(n).

A smooth function of a mean has, to first order (the delta method), se(f(mean t)) = |f'(mean t)| se(mean t).
"""

import math
from dataclasses import dataclass

import numpy as np

from plait._typing import ArrayLike


@dataclass(frozen=True)
class Estimate:
    """A value and its standard error; `float(estimate)` is the value."""

    value: float
    standard_error: float

    @classmethod
    def of_mean(cls, terms: ArrayLike) -> "Estimate":
        """The mean of per-example terms. One example alone has no standard error: nan."""
        values = host(terms).reshape(-1)
        if values.size == 0:
            raise ValueError("an estimate needs at least one example, got none")
        spread = values.std(ddof=1) / math.sqrt(values.size) if values.size > 1 else math.nan
        return cls(float(values.mean()), float(spread))

    @classmethod
    def of_root_mean(cls, squares: ArrayLike) -> "Estimate":
        """sqrt(mean t), with the delta method: se = se(mean t) / (2 sqrt(mean t))."""
        mean = cls.of_mean(squares)
        root = math.sqrt(mean.value)
        return cls(root, mean.standard_error / (2 * root) if root > 0 else 0.0)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if not (math.isfinite(self.standard_error) and self.standard_error > 0):
            return f"{self.value:.4g} ± {self.standard_error:.2g}"
        exponent = math.floor(math.log10(self.standard_error))
        # One digit of the error is enough, two where it would be a 1: 0.0123 -> 0.012, but 0.0456 -> 0.05.
        leading = round(self.standard_error / 10**exponent, 9)
        decimals = -exponent + (1 if leading < 1.95 else 0)
        shown = max(decimals, 0)
        return f"{round(self.value, decimals):.{shown}f} ± {round(self.standard_error, decimals):.{shown}f}"


def host(values: ArrayLike) -> np.ndarray:
    """The values in double precision: sums over many examples lose digits in less."""
    return np.asarray(values, dtype=np.float64)
