"""Rank-1 factors around a shared kernel, in K components (paper 003):

    W_k = W o (r_k s_k^T),      y = ((x o r_k) W) o s_k + b_k

The kernel W and the biases b_k are trained constants; the factors r_k over input units and s_k over output units are
Gaussian, Cauchy or log-Gaussian (positive), with a prior on the factors, not on the weights; as points they make a
BatchEnsemble (Wen et al. 2020). Every example has factors of its own, at the cost
of two elementwise products: W_k is never formed. For a convolution r acts on channels, not on taps; for a lookup there
is nothing to multiply before the rows are picked, so only s is used.

With K components the distribution is their uniform mixture. Its KL is bounded by the mean of the components' KLs
("mean"); the released code adds them up ("sum", erratum E22).
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import Array, PRNGKey, Scalar, Weight
from plait.linalg.stable import inverse_softplus
from plait.posterior.base import Family, Posterior
from plait.posterior.cauchy import CauchyPosterior
from plait.posterior.dropped import DroppedPosterior
from plait.posterior.log_normal import LogNormalPosterior
from plait.posterior.mean_field import MeanFieldPosterior
from plait.posterior.point import PointPosterior
from plait.site.base import MatrixSite, Site
from plait.site.layout import Layout

FactorFamily: TypeAlias = Literal["normal", "cauchy", "lognormal", "point", "dropout"]


class ScaledKernel(eqx.Module):
    """One draw of the factors, beside the kernel: [units] or [examples, units] of them."""

    kernel: Weight
    rows: Array | None
    columns: Array | None
    layout: Layout = eqx.field(static=True)

    def apply(self, site: Site, x: Array) -> Array:
        if self.rows is not None and isinstance(site, MatrixSite):
            x = site.scale_input(x, self.rows)
        y = site.linear(x, site.view.cut(self.kernel))
        if self.columns is not None:
            y = site.scale_output(y, self.columns)
        return site.finish(x, y)

    def dense(self) -> Array:
        refined = self.layout.refine(self.kernel)
        # A draw for each example has no one array; this is for draws of a whole call.
        for values, spread in ((self.rows, self.layout.spread_units), (self.columns, self.layout.spread_columns)):
            if values is not None:
                refined = refined * spread(values)
        return self.layout.fold(refined)


class RankOnePosterior(Posterior):
    """A kernel and, for each component, a distribution over row and column factors."""

    kernel: Weight
    rows: Posterior | None
    """r: [components, units]."""
    columns: Posterior | None
    """s: [components, fan_out]."""
    layout: Layout = eqx.field(static=True)
    num_components: int | None = eqx.field(static=True)
    clip: float | None = eqx.field(static=True)
    kl_reduction: Literal["mean", "sum"] = eqx.field(static=True)

    local = False
    per_example = True

    @property
    def components(self) -> int | None:
        return self.num_components

    def component(self, index: Array | int) -> Posterior:
        rows, columns = (_of_component(factor, index) for factor in (self.rows, self.columns))
        return RankOnePosterior(self.kernel, rows, columns, self.layout, None, self.clip, self.kl_reduction)

    @property
    def has_moments(self) -> bool:
        return all(factor.has_moments for factor in (self.rows, self.columns) if factor is not None)

    def parts(self) -> list[tuple[float, Posterior]]:
        weight = 1 / self.num_components if self.num_components and self.kl_reduction == "mean" else 1.0
        factors = [factor for factor in (self.rows, self.columns) if factor is not None]
        return [(weight, part) for factor in factors for _, part in factor.parts()]

    @property
    def is_constant(self) -> bool:
        return all(factor.is_constant for factor in (self.rows, self.columns) if factor is not None)

    def draw(self, key: PRNGKey, examples: int | None = None) -> ScaledKernel:
        if self.num_components is not None:
            choose, key = jax.random.split(key)
            picked = self.component(jax.random.randint(choose, (), 0, self.num_components))
            assert isinstance(picked, RankOnePosterior)
            return picked.draw(key, examples)
        first, second = jax.random.split(key)
        rows, columns = self._factor(self.rows, first, examples), self._factor(self.columns, second, examples)
        return ScaledKernel(self.kernel, rows, columns, self.layout)

    def _factor(self, factor: Posterior | None, key: PRNGKey, examples: int | None) -> Array | None:
        if factor is None:
            return None
        values = factor.sample(key) if examples is None else factor.samples(key, examples)
        # Switches have no tails to cut: one that is on is 1 / (1 - p), whatever that is.
        if self.clip is None or isinstance(factor, DroppedPosterior):
            return values
        return jnp.clip(values, -self.clip, self.clip)

    def sample(self, key: PRNGKey) -> Array:
        return self.draw(key).dense()

    def _stacked(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """(mean, variance) of r and of s, each [components, units]; ones where a side has no factor."""
        count = self.num_components or 1

        def moments(factor: Posterior | None, size: int) -> tuple[Array, Array]:
            if factor is None:
                return jnp.ones((count, size), self.kernel.dtype), jnp.zeros((count, size), self.kernel.dtype)
            return factor.mean.reshape(count, size), factor.variance.reshape(count, size)

        return moments(self.rows, self.layout.num_units), moments(self.columns, self.layout.fan_out)

    def center(self) -> "Array | ScaledKernel":
        if self.num_components is not None:
            return self.mean
        rows, columns = (None if factor is None else factor.mean for factor in (self.rows, self.columns))
        return ScaledKernel(self.kernel, rows, columns, self.layout)

    @property
    def mean(self) -> Array:
        """Of the uniform mixture, before clipping; locations stand in for the means of Cauchy factors."""
        (rows, _), (columns, _) = self._stacked()
        return self._weighted(rows, columns)

    def _weighted(self, rows: Array, columns: Array) -> Array:
        product = jax.vmap(lambda r, s: self.layout.spread_units(r) * self.layout.spread_columns(s))(rows, columns)
        return self.layout.fold(self.layout.refine(self.kernel) * jnp.mean(product, axis=0))

    @property
    def variance(self) -> Array:
        (row_mean, row_variance), (column_mean, column_variance) = self._stacked()
        second = jax.vmap(lambda r, s: self.layout.spread_units(r) * self.layout.spread_columns(s))(
            row_mean**2 + row_variance, column_mean**2 + column_variance
        )
        kernel = jnp.square(self.layout.refine(self.kernel))
        return self.layout.fold(kernel * jnp.mean(second, axis=0)) - jnp.square(self.mean)

    def covariance(self) -> Array:
        # E[W_ij W_kl] = W_ij W_kl E[r_i r_k] E[s_j s_l] in each component.
        (row_mean, row_variance), (column_mean, column_variance) = self._stacked()

        def second_moment(mean: Array, variance: Array) -> Array:
            return jnp.outer(mean, mean) + jnp.diag(variance)

        ones = jnp.ones(self.layout.shape, self.kernel.dtype)
        unit = jnp.broadcast_to(
            self.layout.spread_units(jnp.arange(self.layout.num_units)), self.layout.refine(ones).shape
        ).reshape(-1)
        column = jnp.broadcast_to(
            self.layout.spread_columns(jnp.arange(self.layout.fan_out)), self.layout.refine(ones).shape
        ).reshape(-1)
        second = jnp.mean(
            jax.vmap(
                lambda rm, rv, sm, sv: second_moment(rm, rv)[unit][:, unit] * second_moment(sm, sv)[column][:, column]
            )(row_mean, row_variance, column_mean, column_variance),
            axis=0,
        )
        flat = self.kernel.reshape(-1)
        return second * jnp.outer(flat, flat) - jnp.outer(self.mean.reshape(-1), self.mean.reshape(-1))

    def log_prob(self, weight: Array) -> Scalar:
        raise ValueError("a rank-1 posterior has no density over weights, only over its factors; see `parts`")

    def entropy(self) -> Scalar:
        raise ValueError("a rank-1 posterior has no entropy over weights, only over its factors; see `parts`")

    @property
    def num_params(self) -> int:
        return self.kernel.size + sum(f.num_params for f in (self.rows, self.columns) if f is not None)


def _of_component(factor: Posterior | None, index: Array | int) -> Posterior | None:
    if isinstance(factor, DroppedPosterior):
        return DroppedPosterior(Layout.vector(factor.layout.shape[1:]), factor.rate, factor.dtype)
    return jax.tree.map(lambda leaf: leaf[index], factor)


class ComponentVector(Posterior):
    """A trained constant for each component: the biases of a rank-1 mixture."""

    values: Weight
    """[components, *shape]."""
    layout: Layout = eqx.field(static=True)

    @property
    def independent(self) -> bool:
        return True

    @property
    def components(self) -> int | None:
        return self.values.shape[0]

    def component(self, index: Array | int) -> Posterior:
        return PointPosterior(self.values[index], self.layout)

    @property
    def mean(self) -> Array:
        return jnp.mean(self.values, axis=0)

    @property
    def variance(self) -> Array:
        return jnp.var(self.values, axis=0)

    def sample(self, key: PRNGKey) -> Array:
        return self.values[jax.random.randint(key, (), 0, self.values.shape[0])]

    def log_prob(self, weight: Array) -> Scalar:
        raise ValueError("the biases of a rank-1 mixture are constants and have no density; `parts` leaves them out")

    def entropy(self) -> Scalar:
        return jnp.asarray(-jnp.inf, self.values.dtype)

    def parts(self) -> list[tuple[float, Posterior]]:
        return []

    @property
    def num_params(self) -> int:
        return self.values.size


@dataclass(frozen=True)
class RankOne(Family):
    """Rank-1 factors in `components` components."""

    components: int = 4
    family: FactorFamily = "normal"
    """Of the factors. "lognormal" ones are positive; "point" ones are trained constants, a BatchEnsemble; "dropout"
    ones are 0 with probability `dropout_rate` and not trained, with `sides="rows"` Monte Carlo dropout."""
    sides: Literal["both", "rows", "columns"] = "both"
    random_sign_init: float = -0.5
    """s > 0: means are +1 with probability s, else -1; s <= 0: means are N(1, |s|), and of "lognormal" factors the mean
    logarithms are N(0, |s|)."""
    dropout_rate: float = 1e-3
    """p: initial scale of the factors sqrt(p / (1 - p)) (erratum E19: a rate, not a standard deviation)."""
    clip: float | None = 10.0
    """Draws are clipped to [-clip, clip], as released; None leaves them."""
    kl_reduction: Literal["mean", "sum"] = "mean"

    def __post_init__(self):
        if not isinstance(self.components, int) or self.components < 1:
            raise ValueError(f"`components` must be a positive integer, got {self.components!r}")
        for name, value, options in (
            ("family", self.family, get_args(FactorFamily)),
            ("sides", self.sides, ("both", "rows", "columns")),
            ("kl_reduction", self.kl_reduction, ("mean", "sum")),
        ):
            if value not in options:
                raise ValueError(f"`{name}` must be one of {', '.join(map(repr, options))}, got {value!r}")
        if not 0 < self.dropout_rate < 1:
            raise ValueError(f"`dropout_rate` must lie in (0, 1), got {self.dropout_rate!r}")
        if self.random_sign_init > 1:
            raise ValueError(
                f"`random_sign_init` above 0 is the probability of +1, at most 1, got {self.random_sign_init!r}"
            )
        if self.family == "lognormal" and self.random_sign_init > 0:
            raise ValueError(
                f"log-Gaussian factors are positive and have no random signs, got random_sign_init="
                f"{self.random_sign_init!r}; give minus the standard deviation of their mean logarithms, such as -0.5"
            )

    def _factor(self, size: int, dtype, key: PRNGKey) -> Posterior:
        centre, spread = jax.random.split(key)
        shape = (self.components, size)
        if self.family == "dropout":
            return DroppedPosterior(Layout.vector(shape), self.dropout_rate, dtype)
        if self.random_sign_init > 0:
            location = jnp.where(jax.random.bernoulli(centre, self.random_sign_init, shape), 1, -1).astype(dtype)
        else:
            middle = 0 if self.family == "lognormal" else 1
            location = middle - self.random_sign_init * jax.random.normal(centre, shape, dtype)
        rho = inverse_softplus(jnp.asarray(math.sqrt(self.dropout_rate / (1 - self.dropout_rate)), dtype))
        layout = Layout.vector(shape)
        if self.family == "point":
            return PointPosterior(location, layout)
        if self.family == "cauchy":
            return CauchyPosterior(location, jnp.broadcast_to(rho, shape), layout)
        noise = 0.1 * jax.random.truncated_normal(spread, -2, 2, shape, dtype)
        normal = MeanFieldPosterior(location, rho + noise, layout, transform="softplus")
        return LogNormalPosterior(normal, layout) if self.family == "lognormal" else normal

    def initialise(self, weight: Array, layout: Layout, *, key: PRNGKey) -> Posterior:
        if layout.is_vector:
            return ComponentVector(jnp.broadcast_to(weight, (self.components, *weight.shape)), layout)
        first, second = jax.random.split(key)
        # The rows of a lookup are all taps: it has no input units to scale.
        no_rows = self.sides == "columns" or not layout.units
        rows = None if no_rows else self._factor(layout.num_units, weight.dtype, first)
        columns = None if self.sides == "rows" else self._factor(layout.fan_out, weight.dtype, second)
        return RankOnePosterior(weight, rows, columns, layout, self.components, self.clip, self.kl_reduction)

    @property
    def default_estimator(self) -> str:
        return "per_example"

    def describe(self) -> str:
        return f"RankOne({self.components}, {self.family})"
