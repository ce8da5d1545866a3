"""What must hold for any model once it is Bayesian, whoever wrote it.

A test file lists functions that make its models, as `Case`s, and subclasses `AnyModel`. What one model shows under one
family is computed once (`Evidence`) and every claim reads from it, so that a model is compiled a few times and not once
for each claim.
"""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait

NUM_KEYS = 256
QUICK_TO_COMPILE = {"xla_backend_optimization_level": 0}

FAMILIES = {
    "Tied": plait.Tied(2, init_scale=0.1),
    "MeanField": plait.MeanField(init_scale=0.1),
    "MatrixNormal": plait.MatrixNormal(init_scale=0.1),
    # The means of all factors start at one, so that the mean of every component is the plain model.
    "RankOne": plait.RankOne(components=2, random_sign_init=1.0, dropout_rate=0.01),
}

Rows = Literal["independent", "differ", "equal"]
Table = Mapping[str, tuple[str, int, int]]


@dataclass(frozen=True)
class Case:
    """A model, how its framework runs it on a batch, and what must be found in it.

    Rows 0 and 1 of every batch are equal.
    """

    model: Any
    inputs: tuple[Any, ...]
    plain: Callable[..., Any]
    """plain(model, *inputs): the model as its framework runs it."""
    sites: Table
    """Kind, fan-in and fan-out of every weight."""
    apply: Callable[..., Any] | None = None
    observed: Callable[[Any], Any] = lambda outputs: outputs
    """The part of the outputs whose leading axis runs over examples."""
    rows: Mapping[str, Rows] = field(default_factory=dict)
    """How the noise of rows 0 and 1 is related, by family; independent where nothing is said."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments for `bayesianize` and for the call."""
    tolerance: float = 1e-5
    silent: tuple[str, ...] = ()
    """Parts of paths of parameters on which the outputs do not depend."""

    def bayesianize(self, family: str, **options: Any) -> plait.BayesianModel:
        return plait.bayesianize(
            self.model,
            *self.inputs,
            posterior=FAMILIES[family],
            apply=self.apply,
            key=jax.random.key(1),
            **self.options,
            **options,
        )


@dataclass(frozen=True)
class Evidence:
    """What one model shows under one family."""

    bnn: plait.BayesianModel
    plain: Any
    centre: Any
    """With key=None."""
    draws: Any
    """[keys, ...] with the default estimator."""
    shared: Any
    """With one weight draw for the whole batch."""
    loss_gradient: dict[str, np.ndarray]
    """By the path of each array in the posteriors."""
    kl_gradient: dict[str, np.ndarray]
    sampled: Any
    """The framework's run of `bnn.sample(key)`."""


def leaves(outputs: Any) -> list[jax.Array]:
    return [leaf for leaf in jax.tree.leaves(outputs) if eqx.is_inexact_array(leaf)]


def scalar_loss(outputs: Any) -> jax.Array:
    """A loss in which every output has a weight of its own."""
    total = jnp.zeros(())
    for leaf in leaves(outputs):
        leaf = leaf.astype(jnp.float32)
        weights = jnp.cos(jnp.arange(leaf.size, dtype=jnp.float32)).reshape(leaf.shape)
        total = total + jnp.sum(weights * leaf) + 0.1 * jnp.sum(jnp.square(leaf))
    return total


def by_path(tree: Any) -> dict[str, np.ndarray]:
    flat, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(where): np.asarray(leaf) for where, leaf in flat}


def gather_evidence(case: Case, family: str) -> Evidence:
    bnn = case.bayesianize(family)
    shared = case.bayesianize(family, estimator="weights")
    keys = jax.random.split(jax.random.key(2), NUM_KEYS)
    options = dict(case.options)

    # One program, compiled without optimisation: it runs once.
    @functools.partial(eqx.filter_jit, compiler_options=QUICK_TO_COMPILE)
    def everything(bnn: Any, shared: Any, inputs: tuple[Any, ...]) -> Any:
        def with_posteriors(posteriors: Any) -> Any:
            return eqx.tree_at(lambda b: b.posteriors, bnn, posteriors)

        def loss(posteriors: Any, key: jax.Array) -> tuple[jax.Array, Any]:
            outputs = with_posteriors(posteriors)(*inputs, key=key, **options)
            return scalar_loss(outputs), eqx.filter(outputs, eqx.is_array)

        gradient = functools.partial(eqx.filter_grad(loss, has_aux=True), bnn.posteriors)
        sample = bnn.sample(keys[0])
        assert type(sample) is type(case.model)
        return (
            case.plain(case.model, *inputs),
            bnn(*inputs, key=None, **options),
            jax.vmap(gradient)(keys),
            shared(*inputs, key=keys[0], **options),
            eqx.filter_grad(lambda posteriors: with_posteriors(posteriors).kl())(bnn.posteriors),
            case.plain(sample, *inputs),
        )

    plain, centre, (gradients, draws), one_draw, kl_gradient, sampled = everything(bnn, shared, case.inputs)
    loss_gradient = {path: gradient[0] for path, gradient in by_path(gradients).items()}
    return Evidence(bnn, plain, centre, draws, one_draw, loss_gradient, by_path(kl_gradient), sampled)


def correlation_of_rows(draws: jax.Array) -> float:
    """The largest correlation, over keys, between an entry of row 0 and the same entry of row 1."""
    first, second = (np.asarray(draws[:, row], np.float64).reshape(len(draws), -1) for row in (0, 1))
    first, second = (row - row.mean(0) for row in (first, second))
    norms = np.sqrt((first**2).sum(0) * (second**2).sum(0))
    moves = norms > 1e-12
    assert moves.any(), "no output depends on the key"
    return float(np.max(np.abs((first * second).sum(0)[moves] / norms[moves])))


Maker = Callable[[], Case]


def under(*families: str) -> Callable[[Maker], Maker]:
    """Under which families a model is looked at; Tied where nothing is said.

    Said of the function that makes it, so that no model is made before its first test. Equinox and linen go through all
    families: what a family sees of a model does not depend on who wrote it.
    """

    def mark(make: Maker) -> Maker:
        make.families = families
        return make

    return mark


class AnyModel:
    """The claims. A subclass lists the models."""

    CASES: ClassVar[dict[str, Maker]]

    @classmethod
    def look(cls, name: str, family: str) -> tuple[Case, Evidence]:
        return _look(cls, name, family)

    def test_the_model_that_is_given_runs_unchanged_with_mean_weights(self, name: str, family: str):
        case, seen = self.look(name, family)
        components = seen.bnn.components
        for ours, theirs in zip(leaves(seen.centre), leaves(seen.plain), strict=True):
            expected = theirs if components is None else jnp.broadcast_to(theirs, (components, *theirs.shape))
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(
                np.asarray(ours, np.float64), np.asarray(expected, np.float64), rtol=case.tolerance, atol=case.tolerance
            )

    def test_equal_rows_get_the_noise_that_the_table_announces(self, name: str, family: str):
        case, seen = self.look(name, family)
        expected = case.rows.get(family, "independent")
        for leaf in leaves(case.observed(seen.draws)):
            leaf = leaf if seen.bnn.components is None else leaf[:, 0]
            correlation = correlation_of_rows(leaf)
            if expected == "independent":
                # Five standard errors of a correlation between independent values.
                assert correlation < 5 / np.sqrt(NUM_KEYS)
            elif expected == "differ":
                assert float(jnp.max(jnp.abs(leaf[0, 0] - leaf[0, 1]))) > 0
            else:
                assert correlation > 0.999
        if expected == "equal":
            assert all(row.one_draw for row in seen.bnn.sites)

    def test_one_weight_draw_gives_equal_rows_the_same_noise(self, name: str, family: str):
        case, seen = self.look(name, family)
        for leaf, plain in zip(leaves(case.observed(seen.shared)), leaves(case.observed(seen.plain)), strict=True):
            leaf = leaf if seen.bnn.components is None else leaf[0]
            first, second, mean = (np.asarray(value, np.float64) for value in (leaf[0], leaf[1], plain[0]))
            np.testing.assert_allclose(first, second, rtol=case.tolerance, atol=case.tolerance)
            assert np.abs(first - mean).max() > 1e-4

    def test_every_variational_parameter_gets_a_finite_gradient(self, name: str, family: str):
        case, seen = self.look(name, family)
        assert seen.loss_gradient.keys() == seen.kl_gradient.keys() == by_path(seen.bnn.posteriors).keys()
        for path, of_loss in seen.loss_gradient.items():
            total = of_loss + seen.kl_gradient[path]
            assert np.isfinite(total).all(), path
            assert np.any(total != 0), path
            assert np.any(of_loss != 0) or any(part in path for part in case.silent), path

    def test_a_sample_is_a_model_that_its_framework_runs(self, name: str, family: str):
        _, seen = self.look(name, family)
        for sampled, plain in zip(leaves(seen.sampled), leaves(seen.plain), strict=True):
            assert sampled.shape == plain.shape
            assert sampled.dtype == plain.dtype
            assert bool(jnp.isfinite(sampled).all())
        assert any(bool(jnp.any(s != p)) for s, p in zip(leaves(seen.sampled), leaves(seen.plain), strict=True))

    def test_the_table_names_kind_fan_in_and_fan_out(self, name: str, family: str):
        case, seen = self.look(name, family)
        assert {row.path: (row.kind, row.fan_in, row.fan_out) for row in seen.bnn.sites} == dict(case.sites)


def parametrise(metafunc: pytest.Metafunc) -> None:
    """For `pytest_generate_tests` of a test file: every claim about every model under every family it names."""
    if metafunc.cls is None or not issubclass(metafunc.cls, AnyModel) or "family" not in metafunc.fixturenames:
        return
    pairs = [(n, f) for n, make in metafunc.cls.CASES.items() for f in getattr(make, "families", ("Tied",))]
    metafunc.parametrize(("name", "family"), pairs, ids=[f"{n}-{f}" for n, f in pairs])


@functools.cache
def _build(cls: type[AnyModel], name: str) -> Case:
    return cls.CASES[name]()


@functools.cache
def _look(cls: type[AnyModel], name: str, family: str) -> tuple[Case, Evidence]:
    case = _build(cls, name)
    return case, gather_evidence(case, family)


def loosely(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a framework that breaks strict promotion of dtypes or ranks itself; what calls it stays strict."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
            return function(*args, **kwargs)

    return run


def batch(*shape: int, seed: int = 0, size: int = 4) -> jax.Array:
    """Standard normal inputs whose rows 0 and 1 are equal."""
    rows = jax.random.normal(jax.random.key(seed), (size, *shape))
    return rows.at[1].set(rows[0])


def tokens(length: int, vocabulary: int, size: int = 4) -> jax.Array:
    rows = jax.random.randint(jax.random.key(0), (size, length), 0, vocabulary)
    return rows.at[1].set(rows[0])
