"""Real targets with noise of unknown precision: y ~ N(m, 1 / tau), tau ~ Gamma(a_0, b_0), q(tau) = Gamma(a, b).

    E_q log p(y | m, tau) = d/2 (psi(a) - log b - log 2 pi) - a / (2 b) |y - m|^2                in the ELBO
    log E_q p(y | m, tau) = log Gamma(a + d/2) - log Gamma(a) - d/2 log 2 pi b
                            - (a + d/2) log(1 + |y - m|^2 / (2 b))                               in predictions
    a = a_0 + N d / 2,      b = b_0 + 1/2 sum_n E|y_n - m_n|^2                                   the best q (MATH 3.2)

for the d entries of one example's target. The second line is a Student t: what averaging over draws of tau along with
the weights tends to. Gamma(6, 6) on standardised targets keeps b >= 6, so with N examples the noise cannot fall below
sqrt(6 / (6 + N / 2)) of their deviation.
"""

import math
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import betaln, digamma, gammaln

from plait._random import check_key, normal
from plait._typing import Array, PRNGKey, Scalar
from plait.likelihood.base import Likelihood, Numbers, Task, align, check_numeric, check_same_shape, sum_event, wide
from plait.likelihood.gaussian import Gaussian

NEEDS = "outputs and y of the same shape"


class GammaGaussian(Likelihood):
    """Gaussian noise with a Gamma posterior on its precision; `shape` and `rate` are those of the prior.

    Natural-gradient methods set the posterior in closed form; `plait.elbo` trains it by gradients.
    """

    task: ClassVar[Task] = "regression"

    log_shape: Array
    """log a."""
    log_rate: Array
    """log b."""
    prior_shape: float = eqx.field(static=True)
    prior_rate: float = eqx.field(static=True)

    def __init__(self, shape: float = 6.0, rate: float = 6.0):
        for name, value in (("shape", shape), ("rate", rate)):
            if not (isinstance(value, (int, float)) and 0 < value < math.inf):
                raise ValueError(f"GammaGaussian: `{name}` of the prior must be a positive number, got {value!r}")
        self.prior_shape, self.prior_rate = float(shape), float(rate)
        self.log_shape, self.log_rate = jnp.asarray(math.log(shape)), jnp.asarray(math.log(rate))

    @property
    def shape(self) -> Array:
        """a."""
        return jnp.exp(self.log_shape)

    @property
    def rate(self) -> Array:
        """b."""
        return jnp.exp(self.log_rate)

    def _squares(self, outputs: Numbers, y: Numbers) -> tuple[Array, float]:
        """|y - m|^2 and d."""
        mean = wide(outputs)
        targets = align(self, mean, y, outputs=outputs, needs=NEEDS).astype(mean.dtype)
        return sum_event(jnp.square(targets - mean), y), float(math.prod(jnp.shape(y)[1:]))

    def log_prob(self, outputs: Numbers, y: Numbers) -> Array:
        squares, size = self._squares(outputs, y)
        shape, rate = (value.astype(squares.dtype) for value in (self.shape, self.rate))
        half = jnp.asarray(size / 2, squares.dtype)
        # log Gamma(a + d/2) - log Gamma(a) of large a without the loss of digits.
        constant = gammaln(half) - betaln(shape, half) - half * jnp.log(2 * math.pi * rate)
        return constant - (shape + half) * jnp.log1p(squares / (2 * rate))

    def expected_log_prob(self, outputs: Numbers, y: Numbers) -> Array:
        squares, size = self._squares(outputs, y)
        shape, log_rate = self.shape.astype(squares.dtype), self.log_rate.astype(squares.dtype)
        constant = 0.5 * size * (digamma(shape) - log_rate - math.log(2 * math.pi))
        return constant - 0.5 * shape * jnp.exp(-log_rate) * squares

    def kl(self) -> Scalar:
        shape, rate, prior_shape = self.shape, self.rate, self.prior_shape
        ratio = prior_shape * (self.log_rate - math.log(self.prior_rate))
        gammas = (shape - prior_shape) * digamma(shape) - gammaln(shape) + math.lgamma(prior_shape)
        return gammas + ratio + shape * (self.prior_rate - rate) / rate

    def plug_in(self) -> Likelihood:
        return Gaussian(jnp.exp(0.5 * (self.log_rate - self.log_shape)))

    def fisher_root(self, outputs: Numbers) -> Array:
        return self.plug_in().fisher_root(outputs)

    def updated(
        self, outputs: Numbers, y: Numbers, *, dataset_size: int, kl_weight: Any = 1.0, rate: Any = 1.0
    ) -> Likelihood:
        squares, size = self._squares(outputs, y)
        # A step of natural gradient: (a, b) are natural parameters, and tempering weights the data.
        count = dataset_size / jnp.asarray(kl_weight, squares.dtype)
        best = self.prior_shape + 0.5 * count * size, self.prior_rate + 0.5 * count * jnp.mean(squares)
        moved = [(1 - rate) * old + rate * new for old, new in zip((self.shape, self.rate), best, strict=True)]
        logs = [jnp.log(value).astype(old.dtype) for value, old in zip(moved, (self.shape, self.rate), strict=True)]
        return eqx.tree_at(lambda own: (own.log_shape, own.log_rate), self, tuple(logs))

    def sample(self, key: PRNGKey, outputs: Numbers) -> Array:
        check_key(key)
        precision_key, noise_key = jax.random.split(key)
        mean = wide(outputs)
        # One precision for the whole call, as there is one for all data.
        precision = jax.random.gamma(precision_key, self.shape) / self.rate
        return mean + jax.lax.rsqrt(precision).astype(mean.dtype) * normal(noise_key, mean.shape, mean.dtype)

    def mean(self, outputs: Numbers) -> Array:
        return wide(outputs)

    def variance(self, outputs: Numbers) -> Array:
        mean = wide(outputs)
        shape = self.shape
        # E[1 / tau] is infinite for a <= 1.
        value = jnp.where(shape > 1, self.rate / jnp.where(shape > 1, shape - 1, 1), jnp.inf)
        return jnp.full_like(mean, value.astype(mean.dtype))

    def num_outputs(self, size: int) -> int:
        return size

    def check(self, output_shape: tuple[int, ...], y_shape: tuple[int, ...], y_dtype: Any) -> None:
        check_same_shape(self, output_shape, output_shape, y_shape, NEEDS)
        check_numeric(self, y_dtype, "real numbers as y")

    @property
    def num_params(self) -> int:
        return 2
