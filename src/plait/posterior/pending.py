"""Independent noise that is not drawn yet: y = mean + sqrt(variance) eps.

Drawing eps, a number for every pre-activation, is most of what local reparametrisation costs. What adds independent
noise of its own to y next, as a bias does, adds its variance instead, and one draw serves both: the sum of independent
Gaussians is a Gaussian.
"""

from dataclasses import dataclass, replace
from typing import Any

from plait._compat import bind_equation
from plait._random import normal
from plait._typing import Array, PRNGKey
from plait.linalg.stable import safe_sqrt


@dataclass(frozen=True)
class Pending:
    """A value with independent Gaussian noise. It must be settled once, by whoever uses it first."""

    mean: Array
    variance: Array
    key: PRNGKey

    def settle(self) -> Array:
        """y, drawn."""
        std = safe_sqrt(self.variance).astype(self.mean.dtype)
        return self.mean + std * normal(self.key, std.shape, std.dtype)

    def moved(self, equation: Any) -> "Pending":
        """After an equation that only moves entries about."""
        mean, variance = (bind_equation(equation, [value])[0] for value in (self.mean, self.variance))
        return replace(self, mean=mean, variance=variance)

    def plus(self, mean: Array, variance: Array) -> "Pending":
        """With another mean, and more independent noise."""
        return replace(self, mean=mean, variance=self.variance + variance.astype(self.variance.dtype))
