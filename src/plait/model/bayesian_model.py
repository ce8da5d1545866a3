"""A model whose weights are random: the value that everything else works on."""

import functools
import operator
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._random import check_key, key_for
from plait._typing import Array, PRNGKey, PyTree, Scalar
from plait.estimator import ESTIMATORS
from plait.likelihood import Likelihood
from plait.model.adapter import Skeleton
from plait.model.forward import Forward
from plait.model.site_table import SiteRow, format_table
from plait.model.traced_inputs import TracedInputs
from plait.posterior import JointPosterior, Posterior
from plait.prior import Prior
from plait.trace import Program, example_axes, interpret, trace
from plait.trace.example_axis import ExampleAxes

COMPONENTS = "components"
"""The name of the axis over mixture components, for collectives in a model: `jax.lax.pmean(x, "components")`."""


class BayesianModel(eqx.Module):
    """A model with a posterior and a prior for each weight. Build it with `plait.bayesianize`."""

    posteriors: dict[str, Posterior]
    """The posterior of each weight that has one of its own."""
    joints: tuple[JointPosterior, ...]
    """Posteriors over several weights."""
    priors: dict[str, Prior]
    """Priors by name; `prior_names` says which weight has which."""
    skeleton: Skeleton
    sites: tuple[SiteRow, ...] = eqx.field(static=True)
    """The site table: one row for each weight."""
    prior_names: tuple[tuple[str, str], ...] = eqx.field(static=True)
    traced: TracedInputs = eqx.field(static=True)
    """Shapes of the inputs that the sites were found with."""
    likelihood: Likelihood | None = None
    """Of targets given outputs, where it is known: `plait.fit` leaves the trained one here."""

    def __call__(self, x: PyTree, *args: Any, key: PRNGKey | None, **kwargs: Any) -> Any:
        """One stochastic forward pass on a batch, or with `key=None` a pass with mean weights.

        Further arguments go to the model; its outputs come back as they are. A mixture of components puts a component
        axis before everything else.
        """
        check_key(key, optional=True)
        return _call(self, x, args, kwargs, key)

    @property
    def components(self) -> int | None:
        """The number of mixture components, or None."""
        return next((p.components for p in self.posteriors.values() if p.components is not None), None)

    def component(self, index: Any) -> "BayesianModel":
        """One mixture component, as a model without components."""
        picked = {path: posterior.component(index) for path, posterior in self.posteriors.items()}
        return eqx.tree_at(lambda bnn: bnn.posteriors, self, picked)

    def with_likelihood(self, likelihood: Likelihood | None) -> "BayesianModel":
        """The same model with the likelihood that `plait.predict` and `plait.evaluate` then take."""
        return replace(self, likelihood=likelihood)

    def draw_weights(self, key: PRNGKey | None) -> dict[str, Array]:
        """One draw of all weights by path, or with None their means."""
        if key is None:
            weights = {path: posterior.mean for path, posterior in self.posteriors.items()}
            return weights | {path: mean for joint in self.joints for path, mean in joint.means.items()}
        if self.components is not None:
            choose, key = jax.random.split(key)
            return self.component(jax.random.randint(choose, (), 0, self.components)).draw_weights(key)
        weights = {path: posterior.sample(key_for(key, path)) for path, posterior in self.posteriors.items()}
        return weights | self._draw_joints(key)

    def _draw_joints(self, key: PRNGKey | None) -> dict[str, Array]:
        weights: dict[str, Array] = {}
        for index, joint in enumerate(self.joints):
            weights |= joint.means if key is None else joint.sample(key_for(key, f"joint {index}"))
        return weights

    def sample(self, key: PRNGKey) -> Any:
        """A plain model of the type that was given, with one draw of all weights."""
        check_key(key)
        return self.skeleton.assemble(self.draw_weights(key))

    def mean(self) -> Any:
        """A plain model of the type that was given, with the mean of all weights."""
        return self.skeleton.assemble(self.draw_weights(None))

    def kl(self, *, key: PRNGKey | None = None) -> Scalar:
        """KL(q || p) summed over all weights, in nats.

        `key` is needed only where a term has no closed form; the site table says where.
        """
        check_key(key, optional=True)
        return _total(list(self.kl_by_weight(key=key).values()))

    def kl_by_weight(self, *, key: PRNGKey | None = None) -> dict[str, Scalar]:
        """The terms of `kl`; a joint posterior's stands under the names of its weights, joined by ' + '."""
        names = dict(self.prior_names)
        terms: dict[str, Scalar] = {}
        for path, posterior in self.posteriors.items():
            parts = [
                weight * self.priors[names[path]].kl(part, key=None if key is None else key_for(key, f"{path}:{i}"))
                for i, (weight, part) in enumerate(posterior.parts())
            ]
            terms[path] = _total(parts)
        for joint in self.joints:
            marginals = joint.marginals()
            closed = (self.priors[names[path]].cross_entropy(marginal) for path, marginal in marginals.items())
            # `bayesianize` refuses priors without a closed form here.
            cross = [term for term in closed if term is not None]
            terms[" + ".join(marginals)] = _total(cross) - joint.entropy()
        return terms

    @property
    def num_params(self) -> int:
        """Every trained number: of posteriors, and of priors that are learned."""
        values: Iterable[Any] = (*self.posteriors.values(), *self.joints, *self.priors.values())
        return sum(value.num_params for value in values)

    @property
    def num_weights(self) -> int:
        """Numbers of the plain model."""
        return sum(row.layout.size for row in self.sites)

    def __str__(self) -> str:
        title = f"{self.num_weights:,} weights, {self.num_params:,} trained numbers"
        if self.components:
            title += f", {self.components} components"
        flops = sum(row.flops for row in self.sites)
        total = f"{flops:,} flops in a deterministic pass on the traced batch"
        return format_table(self.sites, title, total)

    def __repr__(self) -> str:
        return f"<BayesianModel: {self.num_weights:,} weights, {self.num_params:,} trained numbers>"


def _total(terms: Sequence[Scalar]) -> Scalar:
    return functools.reduce(operator.add, terms) if terms else jnp.zeros(())


@eqx.filter_jit
def _call(bnn: BayesianModel, x: PyTree, args: tuple[Any, ...], kwargs: dict[str, Any], key: PRNGKey | None) -> Any:
    if bnn.components is None:
        return _run(bnn, x, args, kwargs, key)
    keys = None if key is None else jax.random.split(key, bnn.components)

    def one(index: Array, key: PRNGKey | None) -> Any:
        # Traced in here, where the model can see the axis: batch statistics of all components together need it.
        return _run(bnn.component(index), x, args, kwargs, key, mapped=True)

    over = jax.vmap(one, in_axes=(0, None if keys is None else 0), axis_name=COMPONENTS)
    return over(jnp.arange(bnn.components), keys)


def _run(
    bnn: BayesianModel,
    x: PyTree,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    key: PRNGKey | None,
    *,
    mapped: bool = False,
) -> Any:
    program, axes = trace_model(bnn, x, args, kwargs)
    rows = {row.path: row for row in bnn.sites}
    handler = Forward(bnn.posteriors, bnn._draw_joints(key), rows, key, axes, mapped)
    return run_program(bnn, program, handler)


def run_program(bnn: BayesianModel, program: Program, handler: Any) -> Any:
    """Outputs of the model under a handler."""
    shapes = {row.path: jax.ShapeDtypeStruct(row.shape, _dtype(bnn, row.path)) for row in bnn.sites}
    return program.rebuild(interpret(program.jaxpr, shapes, program.inputs, handler))


def _dtype(bnn: BayesianModel, path: str) -> Any:
    if path in bnn.posteriors:
        return bnn.posteriors[path].mean.dtype
    return next(joint.means[path].dtype for joint in bnn.joints if path in joint.means)


def trace_model(
    bnn: BayesianModel, x: PyTree, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Program, ExampleAxes | None]:
    """The model's program on a batch, and where its examples lie if an estimator needs to know."""
    size = batch_size(x)
    # Buffers are data: no gradient reaches them.
    skeleton = jax.lax.stop_gradient(bnn.skeleton)
    weights = {row.path: jax.ShapeDtypeStruct(row.shape, _dtype(bnn, row.path)) for row in bnn.sites}

    def forward(values: dict[str, Array], x: PyTree, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return skeleton(values, x, *args, **kwargs)

    program = trace(forward, weights, (x, args, kwargs))
    if not any(ESTIMATORS[row.estimator].per_example for row in bnn.sites):
        return program, None
    larger = jax.tree.map(lambda leaf: _enlarge(leaf, size), (x, args, kwargs))
    try:
        grown = trace(forward, weights, larger)
    except (TypeError, ValueError):
        # Some further input has as many entries as the batch by chance, and does not grow with it.
        grown = trace(forward, weights, (larger[0], args, kwargs))
    return program, example_axes(program.jaxpr, grown.jaxpr, size, size + 1)


def batch_size(x: PyTree) -> int:
    """The number of examples: the length of the first axis of the first array."""
    leaves = [leaf for leaf in jax.tree.leaves(x) if eqx.is_array(leaf)]
    if not leaves or leaves[0].ndim == 0:
        came = "a scalar" if leaves else f"a {type(x).__name__} without arrays"
        raise ValueError(
            f"`x` must be a batch, an array (or a tree of them) whose first axis runs over examples; got {came}. "
            "Give even one example a batch axis, `x[None]`"
        )
    return leaves[0].shape[0]


def _enlarge(leaf: Any, size: int) -> Any:
    if not eqx.is_array(leaf):
        return leaf
    grown = (size + 1, *leaf.shape[1:]) if leaf.shape[:1] == (size,) else leaf.shape
    return jax.ShapeDtypeStruct(grown, leaf.dtype)
