"""N(m, s^2) entries, s given, set by the fan-in, or learned.

    E_q[-log p] = sum [log s + 1/2 log 2 pi] + [sum (M - m)^2 + sum Var] / (2 s^2)

needs of the posterior only its mean and the sum of its variances, which structured families have at the cost of their
factors.
"""

import math
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import Array, Scalar
from plait.prior.base import Prior, check_positive
from plait.site.layout import Layout

HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)


class SphericalNormal(Prior):
    """What every normal prior shares: one standard deviation for all entries of a weight."""

    if TYPE_CHECKING:

        @property
        def mean(self) -> Any: ...
    else:
        mean: eqx.AbstractVar[Any]

    def log_scale(self) -> Any:
        """log s."""
        raise NotImplementedError

    def _centre(self) -> Any:
        return jax.lax.stop_gradient(self.mean) if eqx.is_array(self.mean) else self.mean

    def log_prob(self, weight: Array) -> Scalar:
        log_scale = self.log_scale()
        standardised = (weight - self._centre()) * _exp(-log_scale)
        return -0.5 * jnp.sum(jnp.square(standardised)) - weight.size * (log_scale + HALF_LOG_2_PI)

    def cross_entropy(self, posterior: Any) -> Scalar | None:
        log_scale = self.log_scale()
        mean = posterior.mean
        second = jnp.sum(jnp.square(mean - self._centre())) + posterior.total_variance()
        return mean.size * (log_scale + HALF_LOG_2_PI) + 0.5 * second * _exp(-2 * log_scale)

    def check(self, posterior: Any) -> None:
        if not posterior.has_moments:
            raise ValueError(
                f"KL({type(posterior).__name__} || {type(self).__name__}) is infinite: a posterior without moments "
                "needs a heavy-tailed prior such as `plait.Cauchy(scale)`"
            )


def _exp(value: Any) -> Any:
    return jnp.exp(value) if eqx.is_array(value) else math.exp(value)


class Normal(SphericalNormal):
    """N(mean, scale^2); `scale` is a standard deviation. `mean="weights"` centres it on the weights it is given."""

    scale: Any = 1.0
    mean: Any = 0.0

    def __check_init__(self):
        check_positive(self.scale, "scale", "Normal")

    def bind(self, weight: Array, layout: Layout) -> Prior:
        del layout
        if isinstance(self.mean, str):
            if self.mean != "weights":
                raise ValueError(f"`mean` must be a number, an array or 'weights', got {self.mean!r}")
            return Normal(self.scale, weight)
        if eqx.is_array(self.mean) and jnp.broadcast_shapes(self.mean.shape, weight.shape) != weight.shape:
            raise ValueError(f"a prior mean of shape {self.mean.shape} does not fit a weight of shape {weight.shape}")
        return self

    def log_scale(self) -> Any:
        return jnp.log(jax.lax.stop_gradient(self.scale)) if eqx.is_array(self.scale) else math.log(self.scale)

    def describe(self) -> str:
        scale = f"{self.scale:g}" if isinstance(self.scale, (int, float)) else "array"
        mean = f"{self.mean:g}" if isinstance(self.mean, (int, float)) else "given"
        return f"Normal({scale})" if mean == "0" else f"Normal({scale}, mean={mean})"


class HeNormal(Prior):
    """N(0, 2 / fan_in) for weights with a fan-in side, N(0, 1) for biases and scales (paper 000, appendix)."""

    def bind(self, weight: Array, layout: Layout) -> Prior:
        del weight
        return Normal(1.0 if layout.is_vector else math.sqrt(2 / layout.fan_in))

    def log_prob(self, weight: Array) -> Scalar:
        raise ValueError("HeNormal has no density before it is bound to a weight")


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
            raise ValueError("LearnedNormal has no scale before it is bound to a weight")
        return self.log_scale_parameter

    @property
    def num_params(self) -> int:
        return 1

    def describe(self) -> str:
        return f"LearnedNormal({'shared' if self.shared else 'per weight'})"
