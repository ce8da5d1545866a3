"""Group ARD: closed-form updates lower the KL, end where gradient descent ends, and see what a row is."""

import itertools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.posterior import MeanFieldPosterior
from plait.prior.group_ard import GroupARD
from plait.site import Layout

LAYOUT = Layout.matrix((5, 4), [0])
CONV = Layout.matrix((3, 2, 2), [0, 1], taps=[0])  # taps, channels, out


@pytest.fixture(autouse=True)
def x64():
    with jax.enable_x64(True):
        yield


def posterior(key: jax.Array, layout: Layout = LAYOUT) -> MeanFieldPosterior:
    mean, rho = jax.random.normal(key, (2, *layout.shape))
    return MeanFieldPosterior(mean, rho, layout)


def bound(q: Any, **options: Any) -> GroupARD:
    prior = GroupARD(**options).bind(q.mean, q.layout)
    assert isinstance(prior, GroupARD)
    return prior


SIDES: dict[str, dict[str, Any]] = {
    "both": {},
    "rows": {"columns": False},
    "columns": {"rows": False},
}


def kl_at(q: Any, rows: jax.Array, columns: jax.Array) -> jax.Array:
    """The KL to N(0, 1 / (tau gamma)), without anything collapsed."""
    second = (jnp.square(q.mean) + q.variance) * jnp.exp(rows + columns)
    return 0.5 * jnp.sum(second - rows - columns) + 0.5 * q.mean.size * jnp.log(2 * jnp.pi) - q.entropy()


@pytest.mark.parametrize("options", SIDES.values(), ids=SIDES)
def test_the_kl_is_the_least_over_the_precisions_of_the_groups(options: dict[str, Any], key: jax.Array):
    q = posterior(key)
    prior = bound(q, **options)
    rows, columns = prior.log_precisions(q)
    kl = prior.kl(q, key=None)
    np.testing.assert_allclose(kl, kl_at(q, rows, columns), rtol=1e-12)
    np.testing.assert_allclose(kl, prior.fitted(q).kl(q, key=None), rtol=1e-12)
    asked = [float(prior.rows), float(prior.columns)]
    for slope, on in zip(jax.grad(kl_at, argnums=(1, 2))(q, rows, columns), asked, strict=True):
        assert not on or jnp.abs(slope).max() < 1e-2
    for other in jax.random.split(key, 20):
        noise = 0.1 * jax.random.normal(other, (9,))
        moved = (rows + asked[0] * noise[:5, None], columns + asked[1] * noise[None, 5:])
        assert kl_at(q, *moved) > kl


def test_one_side_alone_has_the_closed_form_of_its_sums(key: jax.Array):
    q = posterior(key)
    second = jnp.square(q.mean) + q.variance
    for options, axis, size in (({"columns": False}, 1, 4), ({"rows": False}, 0, 5)):
        collapsed = 0.5 * size * jnp.sum(jnp.log(jnp.sum(second, axis) / size)) + 10 * (jnp.log(2 * jnp.pi) + 1)
        np.testing.assert_allclose(bound(q, **options).cross_entropy(q), collapsed, rtol=1e-12)


def test_no_update_raises_the_kl(key: jax.Array):
    q = posterior(key)
    prior = bound(q)
    values = [float(kl_at(q, *prior.log_precisions(q, iterations))) for iterations in range(1, 8)]
    assert all(later <= earlier + 1e-12 for earlier, later in itertools.pairwise(values))


@pytest.mark.parametrize("options", SIDES.values(), ids=SIDES)
def test_gradient_descent_ends_at_the_same_prior(options: dict[str, Any], key: jax.Array):
    q = posterior(key)
    start = bound(q, updates="gradient", **options)
    assert (
        start.num_params
        == {"both": 9, "rows": 5, "columns": 4}[next(name for name, value in SIDES.items() if value == options)]
    )

    def descend(prior: GroupARD, _: None) -> tuple[GroupARD, None]:
        gradient = jax.grad(lambda p: p.cross_entropy(q))(prior)
        return jax.tree.map(lambda value, slope: value - 0.1 * slope, prior, gradient), None

    trained, _ = jax.lax.scan(descend, start, length=3000)
    np.testing.assert_allclose(trained.kl(q, key=None), bound(q, **options).kl(q, key=None), rtol=1e-6)
    expected = bound(q, **options).log_precisions(q)
    np.testing.assert_allclose(
        sum(trained.log_precisions(q), jnp.zeros((1, 1))), sum(expected, jnp.zeros((1, 1))), atol=1e-2
    )


def test_the_scale_of_every_row_and_column_does_not_matter(key: jax.Array):
    q = posterior(key)
    factors = jnp.exp(jax.random.normal(key, (9,)) * 3)
    product = factors[:5, None] * factors[None, 5:]
    scaled = MeanFieldPosterior(q.mean * product, q.unconstrained + jnp.log(product), LAYOUT)
    np.testing.assert_allclose(bound(q).kl(scaled, key=None), bound(q).kl(q, key=None), rtol=1e-4)


def test_finer_groups_cost_less(key: jax.Array):
    q = posterior(key)
    costs = [plait.ARD(), bound(q), bound(q, columns=False)]
    best_constant = plait.Normal(float(jnp.sqrt(jnp.mean(q.mean**2 + q.variance))))
    values = [float(prior.kl(q, key=None)) for prior in (*costs, best_constant)]
    assert values == sorted(values)


def test_a_row_of_a_convolution_is_a_tap_of_a_channel_or_a_whole_channel(key: jax.Array):
    q = posterior(key, CONV)
    assert bound(q, columns=False).log_precisions(q)[0].shape == (3, 2, 1)
    rows = bound(q, columns=False, channels=True).log_precisions(q)[0]
    second = jnp.square(q.mean) + q.variance
    np.testing.assert_allclose(rows.reshape(-1), -jnp.log(jnp.mean(second, (0, 2))), rtol=1e-12)
    assert bound(q, channels=True, updates="gradient").num_params == 2 + 2


def test_the_rows_of_a_lookup_are_its_rows_with_channels_too(key: jax.Array):
    lookup = Layout.matrix((5, 4), [0], taps=[0])
    q = posterior(key, lookup)
    assert bound(q, channels=True).log_precisions(q)[0].shape == (5, 1)


def test_tiny_weights_in_single_precision_leave_finite_values_and_gradients():
    with jax.enable_x64(False):
        q = MeanFieldPosterior(jnp.full((5, 4), 1e-15), jnp.full((5, 4), -35.0), LAYOUT)
        value, gradient = jax.value_and_grad(lambda q: bound(q).kl(q, key=None))(q)
        np.testing.assert_allclose(value, plait.ARD().kl(q, key=None), rtol=1e-3, atol=1e-3)
        assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(gradient))


def test_updates_by_gradient_start_at_the_variance_of_the_given_weights():
    weight = jnp.full((5, 4), 0.2)
    scale = GroupARD(updates="gradient").bind(weight, LAYOUT).fitted(MeanFieldPosterior(weight, weight, LAYOUT)).scale
    np.testing.assert_allclose(scale, 0.2)
    assert jnp.all(GroupARD(updates="gradient").bind(0 * weight, LAYOUT).row_log_precision == 0)


def test_it_is_trained_with_the_model(key: jax.Array):
    def build(**options: Any) -> plait.BayesianModel:
        prior = plait.GroupARD(**options)
        return plait.bayesianize(jnp.ones((5, 4)), jnp.ones((2, 5)), apply=lambda w, x: x @ w, prior=prior, key=key)

    bnn = build(updates="gradient")
    assert bnn.num_params - build().num_params == 9
    assert len(jax.tree.leaves(eqx.filter(bnn.priors, eqx.is_inexact_array))) == 2
    assert [row.prior for row in bnn.sites] == ["GroupARD(rows, columns, gradient)"]
    assert build(channels=True, columns=False).sites[0].prior == "GroupARD(channels)"


def test_beside_it_biases_keep_the_usual_prior(key: jax.Array):
    bnn = plait.bayesianize(
        eqx.nn.MLP(3, 2, 4, 1, key=key), jnp.ones((2, 3)), posterior=plait.MatrixNormal(), prior=GroupARD(), key=key
    )
    assert {row.kind: row.prior for row in bnn.sites} == {"dense": "GroupARD(rows, columns)", "bias": "Normal(1)"}


def on_a_bias(prior: Any, weights: Any, key: jax.Array) -> Any:
    apply = lambda p, x: x + p["b"][None] if "w" not in p else x @ p["w"] + p["b"][None]  # noqa: E731
    return plait.bayesianize(weights, jnp.ones((2, 4)), apply=apply, prior=prior, key=key)


REFUSED: dict[str, tuple[Callable[[jax.Array], Any], str]] = {
    "a bias by name": (
        lambda key: on_a_bias({"b": GroupARD()}, {"w": jnp.ones((4, 4)), "b": jnp.zeros(4)}, key),
        r"one of shape \(4,\) \(a bias or a scale\) is a vector. Give vectors a prior of their own",
    ),
    "nothing but a bias": (lambda key: on_a_bias(GroupARD(), {"b": jnp.zeros(4)}, key), "is a vector"),
    "no side": (lambda key: GroupARD(rows=False, columns=False), "at least one of `rows` and `columns` must be True"),
    "channels of no rows": (lambda key: GroupARD(rows=False, channels=True), "says what a row is, and `rows` is False"),
    "updates": (lambda key: GroupARD(updates="newton"), "'closed_form' or 'gradient', got 'newton'"),
    "unbound": (lambda key: GroupARD().cross_entropy(posterior(key)), r"before it is bound: `prior\.bind"),
    "density": (lambda key: GroupARD().log_prob(jnp.zeros((5, 4))), r"20 weights are fitted .*prior\.fitted"),
    "factors": (
        lambda key: plait.bayesianize(
            jnp.ones((5, 4)), jnp.ones((2, 5)), apply=lambda w, x: x @ w, posterior=plait.RankOne(2), prior=GroupARD(),
            key=key,
        ),
        r"rows and columns for a weight of shape \(5, 4\), and this family has a prior on factors of shape",
    ),
}  # fmt: skip


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("build", "says"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused(build: Callable[[jax.Array], Any], says: str, key: jax.Array):
    with pytest.raises(ValueError, match=says):
        build(key)
