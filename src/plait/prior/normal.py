"""N(m, s^2) entries, s given, set by the fan-in, or learned.

    E_q[-log p] = sum [log s + 1/2 log 2 pi] + [sum (M - m)^2 + sum Var] / (2 s^2)

needs of the posterior only its mean and the sum of its variances, which structured families have at the cost of their
factors. With an s for each entry the last fraction moves under the sums, and needs the variance of each entry.
"""

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, Scalar
from plait.prior.base import Prior, check_moments, check_positive
from plait.site.layout import Kept, Layout

HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)


class SphericalNormal(Prior):
    """What every normal prior shares: one standard deviation for all entries of a weight, or one for each."""

    if TYPE_CHECKING:

        @property
        def mean(self) -> Any: ...
    else:
        mean: eqx.AbstractVar[Any]

    @abstractmethod
    def log_scale(self) -> Any:
        """log s."""

    def _centre(self) -> Any:
        return jax.lax.stop_gradient(self.mean) if eqx.is_array(self.mean) else self.mean

    def log_prob(self, weight: Array) -> Scalar:
        log_scale = self.log_scale()
        standardised = (weight - self._centre()) * _exp(-log_scale)
        return -0.5 * jnp.sum(jnp.square(standardised)) - weight.size * (_average(log_scale) + HALF_LOG_2_PI)

    def cross_entropy(self, posterior: Any) -> Scalar | None:
        log_scale = self.log_scale()
        mean = posterior.mean
        gap, precision = jnp.square(mean - self._centre()), _exp(-2 * log_scale)
        if jnp.ndim(log_scale) == 0:
            second = (jnp.sum(gap) + posterior.total_variance()) * precision
        else:
            second = jnp.sum((gap + posterior.variance) * precision)
        return mean.size * (_average(log_scale) + HALF_LOG_2_PI) + 0.5 * second

    def check(self, posterior: Any) -> None:
        check_moments(self, posterior)
        for name, shape in (("mean", jnp.shape(self.mean)), ("scale", jnp.shape(self.log_scale()))):
            if shape not in ((), posterior.mean.shape):
                raise ValueError(
                    f"a prior {name} of shape {shape} does not fit the factors of shape {posterior.mean.shape} that "
                    f"this family has a prior on; give a number"
                )


def _exp(value: Any) -> Any:
    return jnp.exp(value) if eqx.is_array(value) else math.exp(value)


def _average(value: Any) -> Any:
    return jnp.mean(value) if eqx.is_array(value) else value


def _plain(value: Any) -> Any:
    """Numpy's arrays and numbers as JAX's and Python's."""
    if isinstance(value, np.generic):
        return value.item()
    return jnp.asarray(value) if isinstance(value, np.ndarray) else value


class Normal(SphericalNormal):
    """N(mean, scale^2); `scale` is a standard deviation. `mean="weights"` centres it on the weights it is given.

    Both may be arrays that broadcast against the weight.
    """

    scale: Any = eqx.field(default=1.0, converter=_plain)
    mean: Any = eqx.field(default=0.0, converter=_plain)

    def __check_init__(self):
        check_positive(self.scale, "scale", "Normal")

    def bind(self, weight: Array, layout: Layout) -> Prior:
        del layout
        if isinstance(self.mean, str) and self.mean != "weights":
            raise ValueError(f"`mean` must be a number, an array or 'weights', got {self.mean!r}")
        mean = weight if isinstance(self.mean, str) else _fit(self.mean, weight, "mean")
        return Normal(_fit(self.scale, weight, "scale"), mean)

    def restricted(self, kept: Kept) -> Prior:
        return Normal(*(value[np.ix_(*kept)] if jnp.ndim(value) else value for value in (self.scale, self.mean)))

    def log_scale(self) -> Any:
        return jnp.log(jax.lax.stop_gradient(self.scale)) if eqx.is_array(self.scale) else math.log(self.scale)

    def describe(self) -> str:
        scale = f"{self.scale:g}" if isinstance(self.scale, (int, float)) else "array"
        mean = f"{self.mean:g}" if isinstance(self.mean, (int, float)) else "given"
        return f"Normal({scale})" if mean == "0" else f"Normal({scale}, mean={mean})"


def _fit(value: Any, weight: Array, name: str) -> Any:
    """An array with an entry for each of the weight's; numbers stay."""
    if jnp.ndim(value) == 0:
        return value
    lead = weight.ndim - value.ndim
    if lead < 0 or any(a not in (1, b) for a, b in zip(value.shape, weight.shape[lead:], strict=True)):
        raise ValueError(
            f"a prior {name} of shape {value.shape} does not fit a weight of shape {weight.shape}; give a number or an "
            "array that broadcasts against the weight"
        )
    return jnp.broadcast_to(value, weight.shape)


class HeNormal(Prior):
    """N(0, 2 / fan_in) for weights with a fan-in side, N(0, 1) for biases and scales (paper 000, appendix)."""

    def bind(self, weight: Array, layout: Layout) -> Prior:
        del weight
        return Normal(1.0 if layout.is_vector else math.sqrt(2 / layout.fan_in))

    def log_prob(self, weight: Array) -> Scalar:
        raise ValueError("HeNormal has no density before it is bound to a weight: `prior.bind(weight, layout)`")


class LearnedNormal(SphericalNormal):
    """N(0, s^2) with s trained by the ELBO: one for each weight, or with `shared=True` one for all it is given to."""

    scale: float = eqx.field(static=True, default=1.0)
    shared: bool = eqx.field(static=True, default=False)
    log_scale_parameter: Array | None = None
    mean: float = eqx.field(static=True, default=0.0)

    def __check_init__(self):
        check_positive(self.scale, "scale", "LearnedNormal")

    def bind(self, weight: Array, layout: Layout) -> Prior:
        del layout
        start = jnp.asarray(math.log(self.scale), weight.dtype)
        return LearnedNormal(scale=self.scale, shared=self.shared, log_scale_parameter=start, mean=self.mean)

    def log_scale(self) -> Any:
        if self.log_scale_parameter is None:
            raise ValueError("LearnedNormal has no scale before it is bound to a weight: `prior.bind(weight, layout)`")
        return self.log_scale_parameter

    @property
    def num_params(self) -> int:
        return 1

    def describe(self) -> str:
        return f"LearnedNormal({'shared' if self.shared else 'per weight'})"
