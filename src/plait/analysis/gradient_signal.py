"""How much signal is in gradients, streamed over windows of training (paper 001, footnote 2; MATH 1.4, erratum E12).

For each trained number, over the last `window` gradients g of its loss:

    "usual"          E[g]^2 / Var[g]            what is otherwise called signal to noise; no unit
    "printed"        E[g^2] / Var[g^2]          as in the paper; its unit is 1 / g^2: a loss times c gives 1 / c^2 of it
    "dimensionless"  E[g^2]^2 / Var[g^2]        the printed one made free of units

and of these the mean and quantiles over the numbers of each array. The printed one falls as the signal grows.

The four moments are running ones (Welford 1962), so memory does not grow with the window, and nothing is computed
outside the windows. Variances divide by window - 1. `signal_to_noise` is an optax transformation that passes gradients
on unchanged: `optax.chain(signal_to_noise(at=(1000, 5000)), optax.adam(1e-3))` goes into `plait.fit` as it is, and
`read_signal(fit.state.optimizer)` reads the result.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from plait._typing import Array, PyTree

READINGS = ("usual", "printed", "dimensionless")
LEVELS = (0.1, 0.5, 0.9)

T = TypeVar("T")


class Moments(eqx.Module):
    """Running mean and sum of squared deviations of trees of one structure."""

    count: Array
    mean: PyTree
    spread: PyTree

    @classmethod
    def zero(cls, like: PyTree) -> "Moments":
        """Of nothing yet."""
        zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, _wide(leaf)), like)
        return cls(jnp.zeros((), jnp.float32), zeros, zeros)

    def update(self, tree: PyTree) -> "Moments":
        """With one more."""
        count = self.count + 1
        mean = jax.tree.map(lambda m, x: m + (x.astype(m.dtype) - m) / count.astype(m.dtype), self.mean, tree)
        spread = jax.tree.map(
            lambda s, old, new, x: s + (x.astype(s.dtype) - old) * (x.astype(s.dtype) - new),
            self.spread, self.mean, mean, tree,
        )  # fmt: skip
        return Moments(count, mean, spread)

    @property
    def variance(self) -> PyTree:
        """Sum of squared deviations over one less than the count."""
        return jax.tree.map(lambda spread: spread / jnp.maximum(self.count - 1, 1).astype(spread.dtype), self.spread)


class Summary(NamedTuple):
    """The readings of one array at each recorded step, over its entries that vary."""

    mean: Array
    """[steps, readings]."""
    quantiles: Array
    """[steps, readings, levels]."""
    constant: Array
    """[steps]: the share of entries whose gradients were all the same; they have no ratio and are left out."""
    size: Array
    """Entries."""


class SignalState(NamedTuple):
    """What `signal_to_noise` keeps in the optimizer's state."""

    step: Array
    at: Array
    """Steps that are recorded."""
    window: Array
    levels: Array
    """Of the quantiles."""
    gradient: Moments
    square: Moments
    summaries: PyTree
    """A `Summary` for each array, nan where training has not come so far."""


def signal_to_noise(
    *, at: Sequence[int], window: int = 10, levels: Sequence[float] = LEVELS
) -> optax.GradientTransformation:
    """Record the readings of the last `window` gradients up to each of the steps `at`, counted from 1.

    Args:
        at: steps, in order; their windows must not overlap.
        window: gradients to look at; the papers take 10.
        levels: of the quantiles over the entries of an array.
    """
    steps = tuple(at)
    if isinstance(window, bool) or not isinstance(window, int) or window < 2:
        raise ValueError(f"`window` is a number of gradients that has a variance, at least 2, got {window!r}")
    if not steps or any(isinstance(step, bool) or not isinstance(step, int) for step in steps):
        raise ValueError(f"`at` names the steps to record, integers, got {steps!r}")
    gaps = [after - before for before, after in zip((0, *steps), steps, strict=False)]
    if min(gaps) < window:
        raise ValueError(
            f"windows of {window} steps before each of {list(steps)} overlap, or begin before the first step: steps in "
            "order must be at least a window apart"
        )
    if any(not 0 <= level <= 1 for level in levels):
        raise ValueError(f"`levels` are those of quantiles, in [0, 1], got {list(levels)}")

    def init(params: Any) -> Any:
        empty = (len(steps), len(READINGS))

        def summary(leaf: Array) -> Summary:
            dtype = _wide(leaf)
            nothing = jnp.full((*empty, len(levels)), jnp.nan, dtype)
            return Summary(
                jnp.full(empty, jnp.nan, dtype), nothing, jnp.full(empty[:1], jnp.nan, dtype), jnp.asarray(leaf.size)
            )

        zero = Moments.zero(params)
        return SignalState(
            jnp.zeros((), jnp.int32),
            jnp.asarray(steps, jnp.int32),
            jnp.asarray(window, jnp.int32),
            jnp.asarray(levels, jnp.float32),
            zero,
            zero,
            jax.tree.map(summary, params),
        )

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        del params
        return updates, _advance(state, updates)

    return optax.GradientTransformation(init, update)


def ratios(gradient: Moments, square: Moments) -> PyTree:
    """For each array the readings of each entry, [readings, *shape]; nan where the gradients do not vary."""

    def of(mean: Array, variance: Array, power: Array, variation: Array) -> Array:
        varies = (variance > 0) & (variation > 0)
        safe, safe_square = jnp.where(varies, variance, 1), jnp.where(varies, variation, 1)
        found = jnp.stack([jnp.square(mean) / safe, power / safe_square, jnp.square(power) / safe_square])
        return jnp.where(varies[None], found, jnp.nan)

    return jax.tree.map(of, gradient.mean, gradient.variance, square.mean, square.variance)


def _advance(state: SignalState, gradient: PyTree) -> SignalState:
    step = state.step + 1
    begins = jnp.any(step == state.at - state.window + 1)
    inside = jnp.any((step > state.at - state.window) & (step <= state.at))

    def add(moments: tuple[Moments, Moments]) -> tuple[Moments, Moments]:
        first, second = jax.tree.map(lambda leaf: jnp.where(begins, jnp.zeros_like(leaf), leaf), moments)
        return first.update(gradient), second.update(
            jax.tree.map(lambda leaf: jnp.square(leaf.astype(_wide(leaf))), gradient)
        )

    first, second = _when(inside, add, (state.gradient, state.square))

    def record(summaries: PyTree) -> PyTree:
        index, found = jnp.argmax(step == state.at), ratios(first, second)
        return jax.tree.map(lambda values, summary: _record(summary, values, index, state.levels), found, summaries)

    summaries = _when(jnp.any(step == state.at), record, state.summaries)
    return state._replace(step=step, gradient=first, square=second, summaries=summaries)


def _record(summary: Summary, values: Array, index: Array, levels: Array) -> Summary:
    flat = values.reshape(len(READINGS), -1)
    quantiles = jnp.nanquantile(flat, levels.astype(flat.dtype), axis=1).T
    return Summary(
        summary.mean.at[index].set(jnp.nanmean(flat, axis=1)),
        summary.quantiles.at[index].set(quantiles),
        summary.constant.at[index].set(jnp.mean(jnp.isnan(flat[0]).astype(flat.dtype))),
        summary.size,
    )


def _when(condition: Array, function: Callable[[T], T], value: T) -> T:
    """`function(value)` if the condition holds, else the value.

    A loop of at most one pass: under vmap, where replicas train side by side, `lax.cond` computes both branches at
    every step, while a loop that no replica enters costs nothing.
    """
    return jax.lax.while_loop(
        lambda carry: carry[0], lambda carry: (jnp.zeros_like(carry[0]), function(carry[1])), (condition, value)
    )[1]


def _wide(leaf: Array) -> Any:
    """Moments of half-precision gradients are kept in single precision."""
    return jnp.float32 if jnp.finfo(leaf.dtype).bits < 32 else leaf.dtype
