"""Probabilistic backpropagation (Hernandez-Lobato & Adams 2015): assumed density filtering of a mean-field Gaussian.

    layer l:    a = W [z, 1] / sqrt(n + 1),   E a and Var a of independent entries,   z = max(a, 0) by its moments
    m <- m + v d log Z / d m,   v <- v - v^2 ((d log Z / d m)^2 - 2 d log Z / d v),   Z = N(y; E f, Var f + b / (a - 1))

example by example. Noise and prior precision are Gamma(a, b), moved so that the tilted moments match: with Z, Z', Z''
at a, a + 1 and a + 2,  a <- 1 / (Z'' Z / Z'^2 (a + 1) / a - 1)  and  b <- 1 / (Z'' / Z' (a + 1) / b - Z' / Z a / b).
After each pass over the data the factor of each weight's prior is taken out and put in again. An update that leaves no
variance is not made. Small differences of Z'' Z / Z'^2 from 1 matter: all of it is in double precision.
"""

from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jax.scipy.special import log_ndtr

from plait._typing import Array, PRNGKey

SMALLEST = 1e-100
"""Of a variance."""
LARGEST_CAVITY = 1e6


class Gamma(NamedTuple):
    """a and b."""

    shape: Array
    rate: Array


class Belief(NamedTuple):
    """What is known of a network; means and variances are layers [out, in + 1]."""

    means: list[Array]
    variances: list[Array]
    noise: Gamma
    prior: Gamma
    factors: Any
    """Natural parameters that each weight's prior contributes: precision, precision times mean, and a and b."""


def rectified_moments(mean: Array, variance: Array) -> tuple[Array, Array]:
    """Mean and variance of max(a, 0) for a Gaussian a."""
    std = jnp.sqrt(variance)
    ratio = mean / std
    # phi / Phi through logarithms; far in the tail it tends to -ratio.
    hazard = jnp.exp(-0.5 * jnp.square(ratio) - 0.5 * jnp.log(2 * jnp.pi) - log_ndtr(ratio))
    above = jnp.exp(log_ndtr(ratio))
    given = mean + std * hazard
    first = above * given
    second = first * given * jnp.exp(log_ndtr(-ratio)) + above * variance * (1 - hazard * (hazard + ratio))
    return first, jnp.maximum(second, SMALLEST)


def output_moments(means: list[Array], variances: list[Array], x: Array) -> tuple[Array, Array]:
    """Mean and variance of the network's output for one input."""
    mean, variance = x, jnp.zeros_like(x)
    for i, (m, v) in enumerate(zip(means, variances, strict=True)):
        if i > 0:
            mean, variance = rectified_moments(mean, variance)
        mean = jnp.concatenate([mean, jnp.ones_like(mean[:1])])
        variance = jnp.concatenate([variance, jnp.zeros_like(variance[:1])])
        spread = jnp.square(m) @ variance + v @ (jnp.square(mean) + variance)
        mean, variance = m @ mean / mean.size**0.5, spread / mean.size
    return mean[0], variance[0]


def start(widths: tuple[int, ...], key: PRNGKey, *, shape: float = 6.0, rate: float = 6.0) -> Belief:
    """Means N(0, 1 / (n + 1)), variances and prior factors those of the prior's mean variance b / (a - 1)."""
    shapes = [(out, size + 1) for size, out in pairwise(widths)]
    keys = jax.random.split(key, len(shapes))
    means = [jax.random.normal(k, s) / s[1] ** 0.5 for k, s in zip(keys, shapes, strict=True)]
    variances = [jnp.full(s, rate / (shape - 1)) for s in shapes]
    gamma = Gamma(jnp.asarray(shape), jnp.asarray(rate))
    count = sum(m.size for m in means)
    factors = (jnp.full((count,), (shape - 1) / rate), *(jnp.zeros((count,)) for _ in range(3)))
    return Belief(means, variances, gamma, gamma, factors)


def log_evidences(residual: Array, variance: Array, gamma: Gamma) -> list[Array]:
    """log N(residual; 0, variance + b / (a - 1)), and with a + 1 and a + 2 for a."""

    def one(more: float) -> Array:
        total = variance + gamma.rate / (gamma.shape - 1 + more)
        return -0.5 * jnp.log(2 * jnp.pi * total) - 0.5 * jnp.square(residual) / total

    return [one(0.0), one(1.0), one(2.0)]


def matched(gamma: Gamma, logs: list[Array]) -> Gamma:
    """The Gamma with the moments of the tilted one; the old one where there is none."""
    shape, rate = gamma
    ratio = jnp.exp(logs[2] - 2 * logs[1] + logs[0])
    new_shape = 1 / (ratio * (shape + 1) / shape - 1)
    first, second = jnp.exp(logs[1] - logs[0]) * shape / rate, jnp.exp(logs[2] - logs[1]) * (shape + 1) / rate
    new_rate = 1 / (second - first)
    fine = jnp.isfinite(new_shape) & jnp.isfinite(new_rate) & (new_shape > 1) & (new_rate > 0)
    return Gamma(jnp.where(fine, new_shape, shape), jnp.where(fine, new_rate, rate))


def filter_example(belief: Belief, example: tuple[Array, Array]) -> Belief:
    """The belief after one example."""
    x, y = example

    def log_evidence(means: list[Array], variances: list[Array]) -> tuple[Array, list[Array]]:
        mean, variance = output_moments(means, variances, x)
        logs = log_evidences(y - mean, variance, belief.noise)
        return logs[0], logs

    differentiate = jax.grad(log_evidence, argnums=(0, 1), has_aux=True)
    (by_mean, by_variance), logs = differentiate(belief.means, belief.variances)

    def move(m: Array, v: Array, dm: Array, dv: Array) -> tuple[Array, Array]:
        new_m, new_v = m + v * dm, v - jnp.square(v) * (jnp.square(dm) - 2 * dv)
        fine = jnp.isfinite(new_m) & jnp.isfinite(new_v) & (new_v > SMALLEST)
        return jnp.where(fine, new_m, m), jnp.where(fine, new_v, v)

    moved = list(map(move, belief.means, belief.variances, by_mean, by_variance))
    return belief._replace(
        means=[m for m, _ in moved], variances=[v for _, v in moved], noise=matched(belief.noise, logs)
    )


def refine_prior(belief: Belief) -> Belief:
    """Take each weight's prior factor out and put it in again, one weight after another."""
    means, unravel = ravel_pytree(belief.means)
    variances, _ = ravel_pytree(belief.variances)

    def one(prior: Gamma, weight: Any) -> Any:
        mean, variance, (precision, shift, shape, rate) = weight
        cavity_precision, cavity_shift = 1 / variance - precision, mean / variance - shift
        cavity = Gamma(prior.shape - shape, prior.rate + rate)
        v, m = 1 / cavity_precision, cavity_shift / cavity_precision
        usable = (v > 0) & (v < LARGEST_CAVITY) & (cavity.rate > 0) & (cavity.shape > 1)
        logs = log_evidences(m, v, cavity)
        total = v + cavity.rate / (cavity.shape - 1)
        dm, dv = -m / total, -0.5 / total + 0.5 * jnp.square(m / total)
        new_m, new_v = m + v * dm, v - jnp.square(v) * (jnp.square(dm) - 2 * dv)
        new_prior = matched(cavity, logs)
        usable &= jnp.isfinite(new_m) & jnp.isfinite(new_v) & (new_v > SMALLEST)
        factor = (
            1 / new_v - cavity_precision,
            new_m / new_v - cavity_shift,
            new_prior.shape - cavity.shape,
            cavity.rate - new_prior.rate,
        )
        new, old = (new_prior, (new_m, new_v, factor)), (prior, (mean, variance, weight[2]))
        return jax.tree.map(partial(jnp.where, usable), new, old)

    prior, (means, variances, factors) = jax.lax.scan(one, belief.prior, (means, variances, belief.factors))
    return Belief(unravel(means), unravel(variances), belief.noise, prior, factors)


def train(x: Array, y: Array, widths: tuple[int, ...], key: PRNGKey, *, epochs: int) -> Belief:
    """Filter all examples in random order, refine the prior, and again. Needs `jax.enable_x64`."""
    first, rest = jax.random.split(key)

    def epoch(belief: Belief, key: PRNGKey) -> tuple[Belief, None]:
        order = jax.random.permutation(key, x.shape[0])
        belief, _ = jax.lax.scan(lambda one, row: (filter_example(one, (x[row], y[row])), None), belief, order)
        return refine_prior(belief), None

    return jax.lax.scan(epoch, start(widths, first), jax.random.split(rest, epochs))[0]


def predict(belief: Belief, x: Array) -> tuple[Array, Array]:
    """Mean and variance of targets, noise included: a Gaussian, as in the paper's log-likelihoods."""
    mean, variance = jax.vmap(lambda one: output_moments(belief.means, belief.variances, one))(x)
    return mean, variance + belief.noise.rate / (belief.noise.shape - 1)


def train_and_predict(
    x: np.ndarray, y: np.ndarray, test: np.ndarray, hidden: tuple[int, ...], key: PRNGKey, *, epochs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances [splits, N] of the targets of test inputs, all splits in one program."""
    count, widths = x.shape[0], (x.shape[2], *hidden, 1)

    @jax.jit
    def run(x: Array, y: Array, test: Array, keys: Array) -> tuple[Array, Array]:
        return jax.vmap(lambda x, y, t, k: predict(train(x, y, widths, k, epochs=epochs), t))(x, y, test, keys)

    with jax.enable_x64(True):
        wide = [jnp.asarray(values, jnp.float64) for values in (x, y[..., 0], test)]
        mean, variance = run(*wide, jax.random.split(key, count))
        return np.asarray(mean), np.asarray(variance)
