"""Many steps as one compiled program, for one model or for replicas side by side.

How many steps is an argument of the program, so that it is compiled once whatever the length of a chunk, and results do
not depend on how a run is cut into chunks. A step whose loss is not finite changes nothing and is the last.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._compat import is_key
from plait._typing import Array, PRNGKey, PyTree
from plait.fit.batches import cut_batch, epoch_order
from plait.fit.plan import Plan, Recipe
from plait.model import BayesianModel

METRICS = ("loss", "nll", "kl", "kl_weight", "grad_norm")

MAX_EPOCHS = 256
"""Epochs in one chunk, at most."""


class State(NamedTuple):
    """What steps change. With replicas every array has a leading axis over them."""

    bnn: BayesianModel
    """With its likelihood."""
    optimizer: Any
    means: Array
    """Of `METRICS`, over the steps of the epoch so far."""
    failed: Array
    """The step whose loss was not finite, or -1."""


def begin(recipe: Recipe, bnn: BayesianModel) -> State:
    """The state before the first step."""
    plan = recipe.plan

    def start(bnn: BayesianModel, values: PyTree) -> tuple[BayesianModel, Any]:
        optimizer = recipe.optimizer_for(values)
        prepare = getattr(optimizer, "prepare", None)
        bnn = bnn if prepare is None else prepare(bnn)
        return bnn, optimizer.init(bnn)

    bnn, optimizer = (start if plan.replicas is None else eqx.filter_vmap(start))(bnn, recipe.values)
    lead = () if plan.replicas is None else (plan.replicas,)
    state = State(bnn, optimizer, jnp.zeros((*lead, len(METRICS))), jnp.full(lead, -1, jnp.int32))
    # Chunks overwrite the state they are given: it must share nothing with what belongs to the user.
    return plan.placement.everywhere(copied(state))


def copied(tree: PyTree) -> PyTree:
    """The same values in arrays of their own."""

    def copy(leaf: Any) -> Any:
        if not eqx.is_array(leaf) or is_key(leaf):
            return jnp.copy(leaf) if eqx.is_array(leaf) else leaf
        # With its dtype said: a weakly typed one would come back from a chunk as another type, and compile it anew.
        return jnp.array(leaf, leaf.dtype)

    return jax.tree.map(copy, tree)


def each_replica(plan: Plan, function: Callable[..., Any], in_axes: tuple[int | None, ...]) -> Callable[..., Any]:
    """The function for all replicas at once, or as it is where there are none."""
    return function if plan.replicas is None else jax.vmap(function, in_axes=in_axes)


@eqx.filter_jit(donate="all-except-first")
def run_steps(given: tuple[Recipe, PyTree, Array, Array], state: State) -> tuple[State, Array]:
    """Steps `start` to `stop` (exclusive) on arrays; also the means of every epoch touched, [MAX_EPOCHS, ...]."""
    recipe, data, start, stop = given
    plan, length = recipe.plan, recipe.plan.steps_per_epoch
    arrays, static = eqx.partition(state, eqx.is_array)

    def take_step(arrays: Any, order: Array, data: PyTree, values: PyTree, key: PRNGKey, step: Array) -> Any:
        batch = plan.placement.cut(cut_batch(data, order, step % length, plan.batch_size))
        return eqx.filter(_advance(recipe, eqx.combine(arrays, static), batch, values, key, step), eqx.is_array)

    take_steps = each_replica(plan, take_step, (0, 0, 0 if plan.data_per_replica else None, 0, 0, None))
    orders = each_replica(plan, lambda key, epoch: epoch_order(key, epoch, plan.num_examples), (0, None))

    def alive(arrays: Any) -> Array:
        return jnp.any(arrays.failed < 0)

    def run_epoch(carry: Any) -> Any:
        epoch, arrays, rows = carry
        order, end = orders(recipe.order_key, epoch), jnp.minimum(stop, (epoch + 1) * length)
        _, arrays = jax.lax.while_loop(
            lambda carry: (carry[0] < end) & alive(carry[1]),
            lambda carry: (carry[0] + 1, take_steps(carry[1], order, data, recipe.values, recipe.noise_key, carry[0])),
            (jnp.maximum(start, epoch * length), arrays),
        )
        return epoch + 1, arrays, rows.at[epoch - start // length].set(arrays.means)

    rows = jnp.zeros((MAX_EPOCHS, *state.means.shape), state.means.dtype)
    _, arrays, rows = jax.lax.while_loop(
        lambda carry: (carry[0] * length < stop) & alive(carry[1]), run_epoch, (start // length, arrays, rows)
    )
    return eqx.combine(arrays, static), rows


@eqx.filter_jit(donate="all-except-first")
def run_batch(given: tuple[Recipe, PyTree, Array], state: State) -> tuple[State, Array]:
    """One step on a batch that was handed in; also `failed`, to look at while the next step runs."""
    recipe, batch, step = given
    plan = recipe.plan
    arrays, static = eqx.partition(state, eqx.is_array)

    def take_step(arrays: Any, batch: PyTree, values: PyTree, key: PRNGKey) -> Any:
        batch = plan.placement.cut(batch)
        return eqx.filter(_advance(recipe, eqx.combine(arrays, static), batch, values, key, step), eqx.is_array)

    take_steps = each_replica(plan, take_step, (0, 0 if plan.data_per_replica else None, 0, 0))
    arrays = take_steps(arrays, batch, recipe.values, recipe.noise_key)
    return eqx.combine(arrays, static), arrays.failed


def _advance(recipe: Recipe, state: State, batch: Any, values: PyTree, key: PRNGKey, step: Array) -> State:
    """One step of one model."""
    weight, likelihood = recipe.kl_weight(step), state.bnn.likelihood
    assert likelihood is not None
    bnn, optimizer, aux = recipe.optimizer_for(values).step(
        state.bnn,
        state.optimizer,
        batch,
        key=jax.random.fold_in(key, step),
        likelihood=likelihood,
        dataset_size=recipe.plan.dataset_size,
        kl_weight=weight,
    )
    bnn = bnn.with_likelihood(aux.likelihood)
    # Known before the update where there is a gradient, so that choosing between old and new fuses with the update.
    fine = jnp.isfinite(aux.loss) & (_all_finite(bnn) if aux.grad_norm is None else jnp.isfinite(aux.grad_norm))
    norm = jnp.nan if aux.grad_norm is None else aux.grad_norm
    seen = jnp.stack([jnp.asarray(value, state.means.dtype) for value in (aux.loss, aux.nll, aux.kl, weight, norm)])
    before = step % recipe.plan.steps_per_epoch
    means = jnp.where(before == 0, seen, state.means + (seen - state.means) / (before + 1).astype(seen.dtype))

    goes_on = (state.failed < 0) & fine
    new, _ = eqx.partition(State(bnn, optimizer, means, state.failed), eqx.is_array)
    old, static = eqx.partition(state, eqx.is_array)
    kept = jax.tree.map(lambda new, old: jnp.where(goes_on, new, old), new, old)
    failed = jnp.where((state.failed < 0) & ~fine, step, state.failed)
    return eqx.combine(recipe.plan.placement.joined(kept), static)._replace(failed=failed)


def _all_finite(bnn: BayesianModel) -> Array:
    leaves = jax.tree.leaves(eqx.filter(bnn, eqx.is_inexact_array))
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in leaves]))
