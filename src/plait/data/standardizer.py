"""Zero mean and unit variance by the training part: x' = (x - m) / s, column by column, in double precision.

A model of y' = (y - m_y) / s_y says of y: mean m_y + s_y mean', deviation s_y std', log p(y) = log p(y') - sum log s_y.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Standardizer:
    """Means and scales of inputs and, for a regression, of targets."""

    x_mean: np.ndarray
    x_scale: np.ndarray
    y_mean: np.ndarray | None = None
    y_scale: np.ndarray | None = None

    @classmethod
    def fit(cls, x: np.ndarray, y: np.ndarray | None = None) -> "Standardizer":
        """The statistics of the training part."""
        if len(x) == 0:
            raise ValueError("standardising needs at least one training example, got none")
        return cls(*_moments(x), *(_moments(y) if y is not None else (None, None)))

    def inputs(self, x: np.ndarray) -> np.ndarray:
        """Standardised inputs in single precision."""
        return self._forward(x, self.x_mean, self.x_scale, "inputs")

    def targets(self, y: np.ndarray) -> np.ndarray:
        """Standardised targets in single precision."""
        mean, scale = self._of_targets()
        return self._forward(y, mean, scale, "targets")

    def original_mean(self, mean: np.ndarray) -> np.ndarray:
        """Targets, or predicted means or quantiles, in the units of the data."""
        offset, scale = self._of_targets()
        return np.asarray(mean, np.float64) * scale + offset

    def original_std(self, std: np.ndarray) -> np.ndarray:
        """Predicted deviations in the units of the data."""
        return np.asarray(std, np.float64) * self._of_targets()[1]

    @property
    def log_scale(self) -> float:
        """sum log s_y: what to subtract from a log-density of standardised targets."""
        return float(np.log(self._of_targets()[1]).sum())

    def to_dict(self) -> dict[str, list[float] | None]:
        """Plain lists, for JSON."""
        return {name: None if value is None else value.tolist() for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, values: dict[str, list[float] | None]) -> "Standardizer":
        """What `to_dict` gave."""
        arrays = {name: None if value is None else np.asarray(value, np.float64) for name, value in values.items()}
        missing = [name for name in ("x_mean", "x_scale") if arrays.get(name) is None]
        if missing or set(arrays) - {"x_mean", "x_scale", "y_mean", "y_scale"}:
            raise ValueError(f"a standardizer needs x_mean, x_scale, y_mean and y_scale, got {sorted(values)}")
        return cls(**arrays)  # pyright: ignore[reportArgumentType]

    def _of_targets(self) -> tuple[np.ndarray, np.ndarray]:
        if self.y_mean is None or self.y_scale is None:
            raise ValueError("this standardizer was fitted to inputs only: the targets are in their own units")
        return self.y_mean, self.y_scale

    def _forward(self, values: np.ndarray, mean: np.ndarray, scale: np.ndarray, what: str) -> np.ndarray:
        if values.shape[1:] != mean.shape:
            raise ValueError(f"{what} of shape {values.shape[1:]} do not fit a standardizer of shape {mean.shape}")
        return ((values - mean) / scale).astype(np.float32)


def _moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    double = values.astype(np.float64)
    # A constant column carries nothing: it becomes 0 instead of 0 / 0. (Naval has two.)
    constant = double.max(axis=0) == double.min(axis=0)
    return double.mean(axis=0), np.where(constant, 1, double.std(axis=0))
