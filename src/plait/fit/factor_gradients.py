"""Gradients of a rank-1 model, factors apart from what they multiply (paper 003, MATH 2.4).

    g <- c g                    for the means and scales of the factors r and s ("fast weights")
    g <- g + 2 l2 w             for what is a point: kernels, biases, scales

Both are optax transformations, and stand before momentum: the multiplier is one on gradients, and the second is the
gradient of l2 sum w^2, which `plait.elbo` has no term for.
"""

import fnmatch
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import optax

from plait._typing import Array, PyTree
from plait.posterior import PointPosterior, Posterior, RankOnePosterior
from plait.posterior.rank_one import ComponentVector


def scale_factor_gradients(multiplier: float) -> optax.GradientTransformation:
    """Multiply the gradients of rank-1 factors, and leave the others."""
    if not multiplier > 0:
        raise ValueError(f"`multiplier` is a factor on gradients and must be positive, got {multiplier!r}")

    def scaled(posterior: Any) -> Any:
        if not isinstance(posterior, RankOnePosterior):
            return posterior
        factors = jax.tree.map(lambda leaf: leaf * multiplier, (posterior.rows, posterior.columns))
        return eqx.tree_at(lambda q: (q.rows, q.columns), posterior, factors, is_leaf=lambda leaf: leaf is None)

    def update(updates: PyTree, state: Any, params: PyTree | None = None) -> tuple[PyTree, Any]:
        del params
        return jax.tree.map(scaled, updates, is_leaf=_is_posterior), state

    return optax.GradientTransformation(_stateless, update)


def l2_on_points(strength: float, *, leaving_out: tuple[str, ...] = ()) -> optax.GradientTransformation:
    """The gradient of `strength * sum w^2` over all weights that are points, but those whose path fits a pattern."""
    if not strength >= 0:
        raise ValueError(f"`strength` is a factor on squares and must be at least 0, got {strength!r}")

    def decayed(update: Posterior, posterior: Posterior) -> Posterior:
        where = _point_of(posterior)
        if where is None:
            return update
        value: Array = where(posterior)
        return eqx.tree_at(where, update, where(update) + 2 * strength * value)

    def update(updates: PyTree, state: Any, params: PyTree | None = None) -> tuple[PyTree, Any]:
        if params is None:
            raise ValueError("`l2_on_points` needs the parameters: `update(gradient, state, params)`")
        posteriors = {
            path: gradient
            if any(fnmatch.fnmatchcase(path, pattern) for pattern in leaving_out)
            else decayed(gradient, params.posteriors[path])
            for path, gradient in updates.posteriors.items()
        }
        return eqx.tree_at(lambda bnn: bnn.posteriors, updates, posteriors), state

    return optax.GradientTransformation(_stateless, update)


def _stateless(params: PyTree) -> optax.EmptyState:
    del params
    return optax.EmptyState()


def _is_posterior(value: Any) -> bool:
    return isinstance(value, Posterior)


def _point_of(posterior: Posterior) -> Callable[[Any], Array] | None:
    """Where a posterior keeps a trained constant, if it has one."""
    match posterior:
        case RankOnePosterior():
            return lambda q: q.kernel
        case PointPosterior():
            return lambda q: q.mean
        case ComponentVector():
            return lambda q: q.values
        case _:
            return None
