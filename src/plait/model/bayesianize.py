"""`plait.bayesianize`: any JAX model becomes Bayesian."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._random import check_key, key_for
from plait._typing import Array, PRNGKey, PyTree
from plait.estimator import ESTIMATORS, Estimator
from plait.linalg.rotation import Rotation
from plait.model.adapter import Skeleton, adapt
from plait.model.bayesian_model import COMPONENTS, BayesianModel, batch_size
from plait.model.patterns import Choice
from plait.model.site_table import SiteRow, site_rows
from plait.model.traced_inputs import TracedInputs
from plait.posterior import Family, JointFamily, JointPosterior, Point, Posterior, RankOne, Tied
from plait.prior import Cauchy, HeNormal, LearnedNormal, LogNormal, Normal, Prior
from plait.trace import SiteUse, discover, trace

EstimatorName = Literal["local", "weights", "flipout", "mean", "per_example"]


def bayesianize(
    model: Any,
    x: PyTree,
    *args: Any,
    posterior: Family | Mapping[str, Family] | None = None,
    prior: Prior | Mapping[str, Prior] | None = None,
    estimator: EstimatorName | Mapping[str, EstimatorName] | None = None,
    apply: Callable[..., Any] | None = None,
    key: PRNGKey,
    **kwargs: Any,
) -> BayesianModel:
    """Put a posterior on the weights of a model, without changing the model.

    Args:
        model: an Equinox module (called per example; the library vmaps it), a Flax NNX module (called on batches), or
            any pytree of parameters together with `apply`.
        x: a batch of inputs, examples on the first axis. Only shapes and dtypes matter.
        *args: further inputs of the model, batched like `x`; an `eqx.nn.State` is shared, a key is split.
        posterior: a family for all weights, or an ordered mapping from path patterns or site kinds ("dense", "conv",
            "embedding", "bias", "scale", "other") to families; weights that no pattern names are `Point()`. The
            default is `Tied(rank=2)`. The given weights become the means.
        prior: a prior, or a mapping like that of `posterior`. The default is `HeNormal()`.
        estimator: how noise meets activations: "local", "weights", "flipout", "mean", "per_example", or a mapping. The
            default is the best that a family offers.
        apply: the forward pass `apply(model, x_batch, *args, **kwargs)`, where the model is not called as above.
        key: for initial noise.

    Returns:
        A `BayesianModel`; `print` it to see what was found.
    """
    check_key(key)
    weights, skeleton = adapt(model, apply)
    batch_size(x)
    uses = _uses(skeleton, weights, x, args, kwargs, mixed=_is_mixture(posterior))
    rows = site_rows(uses, {path: weight.shape for path, weight in weights.items()})
    paths = [(row.path, row.kind) for row in rows]

    families: Choice[Family] = Choice("posterior", Tied() if posterior is None else posterior, paths, Point())
    posteriors, joints = _initialise(rows, weights, families, key)
    priors, names = _bind_priors(rows, weights, families, posteriors, joints, Choice("prior", prior, paths, None))
    estimators: Choice[str | None] = Choice("estimator", estimator, paths, None)

    table: list[SiteRow] = []
    for row in rows:
        joint = next((j for j in joints if row.path in j.means), None)
        value = posteriors.get(row.path)
        family = _family(families, row)
        name, note = _estimator(row, family, value, estimators)
        table.append(
            replace(
                row,
                note=note,
                posterior=family.describe(),
                prior=priors[names[row.path]].describe() if row.path in names else "",
                kl=_route(priors[names[row.path]], joint, value) if row.path in names else "",
                estimator=name,
                num_params=value.num_params if value is not None else 0,
            )
        )
    traced = TracedInputs.of((x, args, kwargs))
    return BayesianModel(posteriors, joints, priors, skeleton, tuple(table), tuple(names.items()), traced)


def _uses(
    skeleton: Skeleton, weights: dict[str, Array], x: PyTree, args: Any, kwargs: Any, *, mixed: bool
) -> tuple[SiteUse, ...]:
    """Every use of every weight in the forward pass."""

    def forward(values: dict[str, Array], x: PyTree, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return skeleton(values, x, *args, **kwargs)

    found: list[tuple[SiteUse, ...]] = []

    def look(index: Any) -> Any:
        program = trace(forward, weights, (x, args, kwargs))
        if not program.jaxpr.jaxpr.outvars:
            raise TypeError(
                "the model's forward pass returned no array; `apply(model, x_batch)` must return its outputs"
            )
        found.append(discover(program, weights))
        return index

    # A model may average over the components of a mixture by the name of their axis.
    (jax.vmap(look, axis_name=COMPONENTS) if mixed else look)(jnp.zeros(1))
    return found[0]


def _is_mixture(posterior: Family | Mapping[str, Family] | None) -> bool:
    families = posterior.values() if isinstance(posterior, Mapping) else (posterior,)
    return any(isinstance(family, RankOne) for family in families)


def _family(families: Choice[Family], row: SiteRow) -> Family:
    family = families.of(row.path, row.kind)
    if not isinstance(family, Family):
        raise TypeError(f"`posterior` for {row.path!r} must be a family such as plait.Tied(rank=2), got {family!r}")
    return family.for_vectors() if row.layout.is_vector else family


def _initialise(
    rows: list[SiteRow], weights: dict[str, Array], families: Choice[Family], key: PRNGKey
) -> tuple[dict[str, Posterior], tuple[JointPosterior, ...]]:
    posteriors: dict[str, Posterior] = {}
    groups: dict[int | None, tuple[JointFamily, list[SiteRow]]] = {}
    for row in rows:
        family = _family(families, row)
        if isinstance(family, JointFamily) and family.is_joint:
            # One joint posterior for each rule of a mapping.
            groups.setdefault(families.rule(row.path, row.kind), (family, []))[1].append(row)
            continue
        posteriors[row.path] = family.initialise(weights[row.path], row.layout, key=key_for(key, row.path))
    joints = [
        family.initialise_joint(
            {row.path: weights[row.path] for row in members},
            {row.path: row.layout for row in members},
            key=key_for(key, f"joint {index}"),
        )
        for index, (family, members) in enumerate(groups.values())
    ]
    return posteriors, tuple(joints)


def _bind_priors(
    rows: list[SiteRow],
    weights: dict[str, Array],
    families: Choice[Family],
    posteriors: dict[str, Posterior],
    joints: tuple[JointPosterior, ...],
    choice: Choice[Prior | None],
) -> tuple[dict[str, Prior], dict[str, str]]:
    """The priors by name, and the name of each weight's prior; weights without a KL term have none."""
    priors: dict[str, Prior] = {}
    names: dict[str, str] = {}
    marginals = {path: marginal for joint in joints for path, marginal in joint.marginals().items()}
    has_matrices = any(not row.layout.is_vector for row in rows)
    for row in rows:
        path = row.path
        parts = [part for _, part in posteriors[path].parts()] if path in posteriors else [marginals[path]]
        if not parts:
            continue
        given = choice.of(path, row.kind)
        asked = _default_prior(_family(families, row)) if given is None else given
        if not isinstance(asked, Prior):
            raise TypeError(f"`prior` for {path!r} must be a prior such as plait.Normal(0.2), got {asked!r}")
        if row.layout.is_vector and choice.is_one_for_all and has_matrices:
            asked = asked.for_vectors()
        bound = asked.bind(weights[path], row.layout)
        for part in parts:
            bound.check(part)
        shared = isinstance(asked, LearnedNormal) and asked.shared
        names[path] = f"shared {choice.rule(path, row.kind) or 0}" if shared else path
        priors.setdefault(names[path], bound)
        if path in marginals and priors[names[path]].cross_entropy(marginals[path]) is None:
            raise ValueError(
                f"the joint posterior over {path!r} needs a prior whose KL depends on first and second moments only, "
                f"such as plait.Normal; {asked.describe()} does not"
            )
    return priors, names


def _default_prior(family: Family) -> Prior:
    if isinstance(family, RankOne):
        # On the factors, not on weights (paper 003, table 5).
        defaults = {"cauchy": Cauchy(0.1, location=1.0), "lognormal": LogNormal(0.1)}
        return defaults.get(family.family, Normal(0.1, mean=1.0))
    return HeNormal()


def _estimator(row: SiteRow, family: Family, value: Posterior | None, choice: Choice[str | None]) -> tuple[str, str]:
    """The estimator of one weight, and what the site table notes about it."""
    asked = choice.of(row.path, row.kind)
    name = family.default_estimator if asked is None else asked
    if name not in ESTIMATORS:
        raise ValueError(
            f"`estimator` must be one of {', '.join(map(repr, ESTIMATORS))}, got {name!r} for {row.path!r}"
        )
    if value is not None and value.is_constant:
        return "mean", row.note
    estimator, note = ESTIMATORS[name], row.note
    refusal = _refusal(estimator, value, row)
    if refusal is not None and asked is not None:
        others = [repr(n) for n, e in ESTIMATORS.items() if _refusal(e, value, row) is None]
        raise ValueError(
            f"estimator {name!r} cannot be used for {row.path!r} under {family.describe()}: {refusal}. "
            f"It can use {', '.join(others)}"
        )
    if refusal is not None:
        name, note = "weights", note or f"one draw: {refusal}"
    elif estimator.per_example and not row.uses_agree:
        name, note = "weights", note or "used in parts: one draw"
    elif row.one_draw and not estimator.draws_weights and name != "mean":
        name = "weights"
    return name, note


def _refusal(estimator: Estimator, value: Posterior | None, row: SiteRow) -> str | None:
    if value is None:
        return None if estimator.name == "weights" else "a joint posterior draws its weights together"
    return estimator.refusal(value, row.groups)


def _route(prior: Prior, joint: JointPosterior | None, value: Posterior | None) -> str:
    if joint is not None:
        return joint.entropy_is
    assert value is not None
    routes = [prior.route(part) for _, part in value.parts()]
    return next((route for route in ("Monte Carlo", "bound") if route in routes), "exact")


def trainable(bnn: BayesianModel) -> BayesianModel:
    """A tree of booleans: what gradient training may change."""
    frozen = jax.tree.map(lambda _: False, bnn.skeleton)

    def answer(leaf: Any) -> Any:
        # Gradients would not keep it orthogonal.
        return jax.tree.map(lambda _: False, leaf) if isinstance(leaf, Rotation) else eqx.is_inexact_array(leaf)

    answers = jax.tree.map(answer, bnn, is_leaf=lambda leaf: isinstance(leaf, Rotation))
    return eqx.tree_at(lambda b: b.skeleton, answers, frozen)
