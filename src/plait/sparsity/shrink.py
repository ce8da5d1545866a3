"""`plait.shrink`: a smaller model of the same framework that computes the same function as the masked one.

Units that do nothing vanish: columns of their own layer, entries of biases, scales and running statistics after it, and
rows of the layers that read them. What they contributed as constants goes into biases. Zeros that fill no row or column
stay as masks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array
from plait.model import BayesianModel, bayesianize
from plait.model.adapter import adapt
from plait.model.patterns import matches
from plait.model.site_table import SiteRow, site_rows
from plait.model.traced_inputs import TracedInputs
from plait.posterior import MaskedPosterior, Point, PointPosterior, Posterior
from plait.sparsity.masks import ONE_DRAW, Masks, mask_of, report_of, with_masks
from plait.sparsity.model_call import ModelCall, follow_units
from plait.sparsity.plan import Plan, make_plan
from plait.sparsity.report import Report
from plait.sparsity.sparsify import Sparsified, sparsify
from plait.sparsity.static_sizes import update_sizes
from plait.trace import discover, trace


@dataclass(frozen=True)
class Shrunk:
    """A smaller model, and what became of each layer."""

    model: Any
    """A `BayesianModel` if one was given, otherwise a plain model of the type that was."""
    report: Report
    inputs: tuple[Any, ...]
    """Further inputs that were given, an `eqx.nn.State` among them cut like the model."""
    kept: dict[str, tuple[np.ndarray, ...]]
    """For every array that was cut, which entries are left on each axis."""

    def __str__(self) -> str:
        return str(self.report)


def shrink(
    model: Any,
    *inputs: Any,
    masks: Masks | None = None,
    apply: Callable[..., Any] | None = None,
    whole: Sequence[str] = (),
) -> Shrunk:
    """Take out of a model the rows and columns that are zero.

    With mean weights the result computes what the masked model computes. A Bayesian model stays one: posteriors become
    the marginals of what is left. The noise of units that are cut as constants is not carried into biases; it is
    nothing where the activation of zero is zero and the unit has no bias.

    Args:
        model: the result of `plait.sparsify`; a Bayesian model, which is sparsified by `LogAlpha(3.0)` if it has no
            masks and none are given; or a plain model together with inputs and masks.
        *inputs: a batch and further inputs, as for `plait.bayesianize`. A Bayesian model needs them only if an
            `eqx.nn.State` is among them.
        masks: for some weights by path, booleans in their shape, True where a weight is kept.
        apply: the forward pass. For a Bayesian model it is needed where the given one holds on to the old sizes, as
            that of a Flax linen module does: the pass of a module of the new sizes.
        whole: path patterns of layers whose columns must stay.
    """
    if isinstance(model, Sparsified):
        model = model.model
    if isinstance(model, BayesianModel):
        bnn = with_masks(model, masks) if masks is not None else model
        if masks is None and all(mask_of(bnn, row.path) is None for row in bnn.sites):
            bnn = sparsify(bnn).model
        return _shrink(bnn, inputs, apply, whole)
    if not inputs or masks is None:
        raise ValueError(
            "a plain model needs a batch of inputs and masks, `plait.shrink(model, x, masks={path: booleans})`; "
            "`plait.sparsify` makes masks for a Bayesian model"
        )
    bnn = bayesianize(model, *inputs, posterior=Point(), apply=apply, key=jax.random.key(0))
    small = _shrink(with_masks(bnn, masks), inputs, None, whole)
    return replace(small, model=small.model.mean())


def _shrink(
    bnn: BayesianModel, inputs: tuple[Any, ...], apply: Callable[..., Any] | None, whole: Sequence[str]
) -> Shrunk:
    if not inputs and any(isinstance(argument, eqx.nn.State) for argument in bnn.traced.tree()[1]):
        raise ValueError("the model takes an eqx.nn.State, which is cut with it: `plait.shrink(bnn, x, state)`")
    call = ModelCall.of(bnn, *inputs[:1], args=inputs[1:])
    leaves, live = call.leaves(), _live(bnn, call)
    ledger = follow_units(call, live)
    _refuse_cut_outputs(bnn, ledger.outputs)
    for row in bnn.sites:
        if any(matches(pattern, row.path, row.kind) for pattern in whole):
            ledger.keep(row.path, "as asked")
    # A masked bias is zero: it cannot take up a constant.
    ledger.biases = {
        layer: line for layer, line in ledger.biases.items() if mask_of(bnn, line.leaf) is None
    }  # fmt: skip
    plan = make_plan(ledger, leaves, live)
    small_call = _cut_call(call, leaves, plan, apply)
    small = _cut_model(bnn, small_call, plan)
    _compare(call, small_call)
    notes = {path: f"columns stay: {reason}" for path, reason in plan.reasons.items() if path not in ledger.outputs}
    notes |= dict.fromkeys(ledger.outputs, "columns are outputs")
    before, after = report_of(bnn, {}), report_of(small, notes)
    layers = tuple(
        replace(new, weights=old.weights, rows=old.rows, columns=old.columns)
        for old, new in zip(before.layers, after.layers, strict=True)
    )
    sizes = [sum(leaf.nbytes for leaf in c.leaves().values()) for c in (call, small_call)]
    return Shrunk(small, Report(layers, *sizes), small_call.args, plan.kept)


def _live(bnn: BayesianModel, call: ModelCall) -> dict[str, np.ndarray]:
    """Which entries of the model's arrays are not zero for good: a random weight is not, whatever its mean."""
    live = {name: _nonzero(leaf) for name, leaf in call.leaves().items() if name not in call.weights}
    for path, mean in call.weights.items():
        posterior, mask = bnn.posteriors.get(path), mask_of(bnn, path)
        inner = posterior.weight if isinstance(posterior, MaskedPosterior) else posterior
        random = np.ones(mean.shape, bool) if mask is None else mask
        live[path] = _nonzero(mean) if isinstance(inner, PointPosterior) else random
    return live


def _nonzero(leaf: Array) -> np.ndarray:
    return np.asarray(leaf != 0)


def _refuse_cut_outputs(bnn: BayesianModel, outputs: set[str]) -> None:
    for row in bnn.sites:
        mask = mask_of(bnn, row.path)
        if row.path not in outputs or row.layout.is_vector or mask is None:
            continue
        empty = np.flatnonzero(~np.asarray(row.layout.to_matrix(jnp.asarray(mask))).any(axis=0))
        if len(empty):
            raise ValueError(
                f"the mask of {row.path!r} takes all weights of column {empty[0]} "
                f"({len(empty)} of {row.fan_out} columns), and its columns are outputs of the model: they cannot be "
                "cut. Leave each at least one weight, as `plait.sparsify` does"
            )


def _cut_call(call: ModelCall, leaves: Mapping[str, Array], plan: Plan, apply: Callable[..., Any] | None) -> ModelCall:
    cut = dict(leaves)
    for name, shift in plan.shifts.items():
        cut[name] = cut[name] + shift
    cut |= {name: cut[name][np.ix_(*kept)] for name, kept in plan.kept.items()}
    small = call.with_leaves(cut)
    model = update_sizes(small.skeleton.assemble(small.weights))
    weights, skeleton = adapt(model, apply or call.skeleton.call)
    return replace(small, skeleton=skeleton, weights=weights)


def _cut_model(bnn: BayesianModel, call: ModelCall, plan: Plan) -> BayesianModel:
    posteriors: dict[str, Posterior] = {}
    names, priors = dict(bnn.prior_names), dict(bnn.priors)
    for path, posterior in bnn.posteriors.items():
        if path in plan.shifts:
            shifted = posterior.mean + plan.shifts[path]
            posterior = eqx.tree_at(lambda value: value.mean, posterior, shifted)
        if (kept := plan.kept.get(path)) is not None:
            marginal = posterior.restricted(kept)
            if marginal is None:
                raise ValueError(
                    f"{type(posterior).__name__} of {path!r} has no marginal of its own kind for some rows and "
                    "columns; shrink a plain model with its means, `plait.shrink(bnn.mean(), x, masks={...})`"
                )
            posterior = marginal
            if path in names and len([name for name in names.values() if name == names[path]]) == 1:
                priors[names[path]] = priors[names[path]].restricted(kept)
        posteriors[path] = posterior
    together = {path for joint in bnn.joints for path in joint.means}
    if together & (plan.kept.keys() | plan.shifts.keys()):
        raise ValueError(
            "weights under a joint posterior cannot be cut; shrink a plain model with its means, "
            "`plait.shrink(bnn.mean(), x, masks={...})`"
        )
    traced = TracedInputs.of((call.x, call.args, call.kwargs))
    return BayesianModel(
        posteriors, bnn.joints, priors, call.skeleton, _table(bnn, call, posteriors, plan), bnn.prior_names, traced,
        bnn.likelihood,
    )  # fmt: skip


def _table(bnn: BayesianModel, call: ModelCall, posteriors: Mapping[str, Posterior], plan: Plan) -> tuple[SiteRow, ...]:
    """The site table of the smaller model, treated as in the larger one."""

    def forward(values: dict[str, Array], x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return call.skeleton(values, x, *args, **kwargs)

    try:
        program = trace(forward, call.weights, (call.x, call.args, call.kwargs))
    except Exception as error:
        sizes = ", ".join(f"{path} {call.weights[path].shape}" for path in plan.kept if path in call.weights)
        raise ValueError(
            f"the smaller model does not run: its code holds on to the old sizes ({type(error).__name__}). Give the "
            "forward pass of a model of the new ones, `plait.shrink(bnn, apply=fn)`, or name layers that must stay, "
            f"`whole=[...]`. The new sizes are {sizes}"
        ) from error
    found = site_rows(discover(program, call.weights), {path: weight.shape for path, weight in call.weights.items()})
    old = {row.path: row for row in bnn.sites}
    return tuple(
        replace(
            row,
            note=_note(old[row.path], posteriors.get(row.path)),
            posterior=old[row.path].posterior,
            prior=old[row.path].prior,
            kl=old[row.path].kl,
            estimator=old[row.path].estimator,
            num_params=posteriors[row.path].num_params if row.path in posteriors else 0,
        )
        for row in found
    )


def _note(row: SiteRow, posterior: Posterior | None) -> str:
    return "" if row.note == ONE_DRAW and not isinstance(posterior, MaskedPosterior) else row.note


def _compare(call: ModelCall, small: ModelCall) -> None:
    """Run both models once: that they agree is what everything before has argued."""
    given = (call.x, call.args, call.kwargs)
    if any(eqx.is_array(leaf) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) for leaf in jax.tree.leaves(given)):
        # With noise of their own (dropout) the two do not draw the same numbers.
        return

    def probe(leaf: Any) -> Any:
        floats = eqx.is_inexact_array(leaf)
        return jax.random.normal(jax.random.key(0), leaf.shape, leaf.dtype) if floats else leaf

    x = jax.tree.map(probe, call.x)
    pairs = zip(*(jax.tree.leaves(replace(c, x=x).outputs()) for c in (call, small)), strict=True)
    for ours, theirs in pairs:
        if not eqx.is_inexact_array(ours):
            continue
        apart, size = float(jnp.max(jnp.abs(ours - theirs))), float(jnp.max(jnp.abs(ours)))
        if apart > 2000 * float(jnp.finfo(ours.dtype).eps) * (1 + size):
            raise RuntimeError(
                f"the smaller model differs from the masked one by {apart:.3g} in outputs of up to {size:.3g}, which "
                "is an error in Plait; please report the model. `whole=[...]` names layers to leave alone"
            )
