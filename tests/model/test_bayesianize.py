"""What `bayesianize` chooses, and what it refuses."""

from collections.abc import Callable
from typing import Any

import cases
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait

KEY = jax.random.key(0)
X = jnp.ones((4, 3))
WEIGHTS = {"w": jnp.ones((3, 2)), "b": jnp.ones((2,))}


def affine(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    return x @ params["w"] + params["b"][None]


def build(
    weights: Any = WEIGHTS, x: Any = X, apply: Callable[..., Any] = affine, **options: Any
) -> plait.BayesianModel:
    return plait.bayesianize(weights, x, apply=apply, key=KEY, **options)


def row(bnn: plait.BayesianModel, path: str) -> Any:
    return next(row for row in bnn.sites if row.path == path)


def test_the_defaults_are_two_tied_normals_and_the_he_prior():
    bnn = build()
    described = [(row.path, row.posterior, row.prior, row.kl, row.estimator) for row in bnn.sites]
    assert described == [
        ("b", "MeanField", "Normal(1)", "exact", "local"),
        ("w", "Tied(2)", "Normal(0.816497)", "exact", "local"),
    ]


def test_the_given_weights_are_the_means():
    bnn = build({"w": jnp.arange(6.0).reshape(3, 2), "b": jnp.ones(2)})
    assert jnp.array_equal(bnn.mean()["w"], jnp.arange(6.0).reshape(3, 2))


def test_weights_that_no_pattern_names_are_points():
    bnn = build(posterior={"dense": plait.MeanField()}, prior={"dense": plait.Normal(0.2)})
    assert row(bnn, "b").posterior == "Point"
    assert row(bnn, "b").estimator == "mean"
    assert row(bnn, "b").kl == ""
    assert row(bnn, "w").prior == "Normal(0.2)"


def test_a_forward_pass_without_an_array_is_refused():
    with pytest.raises(TypeError, match=r"returned no array; `apply\(model, x_batch\)` must return its outputs"):
        build(apply=lambda params, x: None)


@pytest.mark.usefixtures("unchecked")
def test_a_posterior_must_be_a_family():
    with pytest.raises(
        TypeError, match=r"`posterior` for 'b' must be a family such as plait\.Tied\(rank=2\), got 'tied'"
    ):
        build(posterior="tied")


@pytest.mark.usefixtures("unchecked")
def test_a_prior_must_be_a_prior():
    with pytest.raises(TypeError, match=r"`prior` for 'w' must be a prior such as plait\.Normal\(0\.2\), got 0\.1"):
        build(prior={"w": 0.1})


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("estimator", ["locale", {"w": "locale"}])
def test_an_unknown_estimator_is_refused_with_those_there_are(estimator: Any):
    with pytest.raises(
        ValueError, match=r"must be one of 'mean', 'weights', 'local', 'flipout', .*, got 'locale' for '.'"
    ):
        build(estimator=estimator)


@pytest.mark.parametrize(
    ("family", "estimator", "says"),
    [
        (plait.MatrixNormal(), "flipout", "random signs .* It can use 'mean', 'weights', 'local'$"),
        (plait.FullCovariance(), "local", "no direct draw of the pre-activation. It can use 'mean', 'weights'$"),
        (plait.Tied(), "per_example", "a weight for each example would have to be formed.* 'flipout'$"),
        (plait.RankOne(2), "local", "no direct draw .* 'mean', 'weights', 'per_example'$"),
        (plait.FullCovariance(joint=True), "mean", "draws its weights together. It can use 'weights'$"),
    ],
)
def test_an_estimator_that_a_family_cannot_carry_is_refused_with_alternatives(
    family: plait.Family, estimator: Any, says: str
):
    with pytest.raises(ValueError, match=rf"estimator '{estimator}' cannot be used for 'w' under .*: .*{says}"):
        build({"w": jnp.ones((3, 2))}, apply=lambda params, x: x @ params["w"], posterior=family, estimator=estimator)


GROUPED = {name: cases.SITES[name] for name in ("conv-grouped", "dense-experts")}
CORRELATED = [plait.MatrixNormal(columns="cholesky"), plait.MatrixNormalPlusDiagonal(columns="householder")]


@pytest.mark.parametrize("name", GROUPED)
@pytest.mark.parametrize("family", CORRELATED, ids=lambda family: type(family).__name__)
def test_columns_correlated_across_groups_are_drawn_as_weights(name: str, family: plait.Family):
    bnn, x = cases.build(family, GROUPED[name], KEY)
    assert (bnn.sites[0].groups, bnn.sites[0].estimator) == (2, "weights")
    assert bnn.sites[0].note == "one draw: its columns are correlated across the 2 groups of inputs"
    assert "one draw: its columns are correlated" in str(bnn)
    outputs = bnn(x, key=KEY)
    assert jnp.array_equal(outputs, bnn(x, key=KEY))
    assert not jnp.allclose(outputs, bnn(x, key=None))
    says = r"'local' cannot be used for 'w' under .*correlated across the 2 groups.* It can use 'mean', 'weights'$"
    with pytest.raises(ValueError, match=says):
        cases.build(family, GROUPED[name], KEY, estimator="local")


@pytest.mark.parametrize("family", [plait.MatrixNormal("cholesky", "diagonal"), plait.LowRank(), plait.Tied()])
def test_groups_do_not_disturb_the_other_families(family: plait.Family):
    bnn, _ = cases.build(family, GROUPED["conv-grouped"], KEY, estimator="local")
    assert (bnn.sites[0].estimator, bnn.sites[0].note) == ("local", "")


def test_factors_without_moments_need_a_heavy_tailed_prior():
    with pytest.raises(ValueError, match=r"CauchyPosterior \|\| Normal\) is infinite.*plait\.Cauchy\(scale\)"):
        build(posterior=plait.RankOne(2, family="cauchy"), prior=plait.Normal(0.1, mean=1.0))
    bnn = build(posterior=plait.RankOne(2, family="cauchy"))
    assert row(bnn, "w").prior == "Cauchy(0.1)"
    assert bool(jnp.isfinite(bnn.kl()))


def test_a_joint_posterior_needs_a_prior_of_two_moments():
    with pytest.raises(
        ValueError, match=r"joint posterior over 'b' needs a prior .* such as plait\.Normal; ScaleMixture"
    ):
        build(posterior=plait.FullCovariance(joint=True), prior=plait.ScaleMixture())
    bnn = build(posterior=plait.FullCovariance(joint=True))
    assert {row.posterior for row in bnn.sites} == {"FullCovariance(joint)"}
    assert bnn.num_params == 8 + 8 * 9 // 2


def test_a_kl_without_a_closed_form_needs_a_key():
    bnn = build(posterior=plait.MeanField(), prior=plait.ScaleMixture())
    assert row(bnn, "w").kl == "Monte Carlo"
    with pytest.raises(
        ValueError, match=r"KL\(MeanFieldPosterior \|\| ScaleMixture\) has no closed form.*`bnn\.kl\(key=\.\.\.\)`"
    ):
        bnn.kl()
    assert bool(jnp.isfinite(bnn.kl(key=KEY)))


def test_a_shared_learned_scale_counts_once():
    shared = build(posterior=plait.MeanField(), prior=plait.LearnedNormal(shared=True))
    each = build(posterior=plait.MeanField(), prior=plait.LearnedNormal())
    assert (shared.num_params, each.num_params) == (17, 18)


def test_a_mean_estimator_leaves_a_weight_without_noise_wherever_it_is_used():
    def apply(params: Any, x: jax.Array) -> jax.Array:
        x = jax.lax.scan(lambda h, _: (jnp.tanh(h @ params["loop"]), None), x, length=2)[0]
        # As an array, and twice.
        return x @ jnp.exp(params["array"]) @ params["twice"] @ params["twice"]

    weights = {path: 0.1 * jnp.eye(3) for path in ("loop", "array", "twice")}
    for path in weights:
        quiet = build(weights, X, apply, posterior={path: plait.MeanField(0.5)}, estimator="mean")
        np.testing.assert_allclose(quiet(X, key=KEY), quiet(X, key=None), rtol=1e-6)
        noisy = build(weights, X, apply, posterior={path: plait.MeanField(0.5)})
        assert not np.allclose(noisy(X, key=KEY), noisy(X, key=None), rtol=1e-3)


def test_a_weight_used_in_parts_has_one_draw_of_rank_one_factors():
    def apply(params: Any, x: jax.Array) -> jax.Array:
        first, second = jnp.split(params["w"], 2, axis=1)
        return jnp.tanh(x @ first) * (x @ second)

    weights = {"w": jnp.ones((3, 4))}
    bnn = build(weights, X, apply, posterior=plait.RankOne(2))
    assert (row(bnn, "w").kind, row(bnn, "w").fan_in, row(bnn, "w").fan_out) == ("dense", 3, 4)
    assert (row(bnn, "w").estimator, row(bnn, "w").note) == ("weights", "used in parts: one draw")
    outputs = bnn(X, key=KEY)
    np.testing.assert_allclose(outputs[:, 0], outputs[:, 1], rtol=1e-5)
    # Independent entries have marginals of their parts.
    assert row(build(weights, X, apply, posterior=plait.MeanField()), "w").note == ""


def test_an_input_that_is_as_long_as_the_batch_by_chance_is_no_batch():
    def apply(params: Any, x: jax.Array, shift: jax.Array) -> jax.Array:
        return x @ params["w"] + shift[None]

    x, shift = jnp.ones((2, 3)), jnp.arange(2.0)
    bnn = plait.bayesianize(
        {"w": jnp.ones((3, 2))}, x, shift, apply=apply, posterior=plait.RankOne(2, dropout_rate=0.5), key=KEY
    )
    outputs = bnn(x, shift, key=KEY) - shift[None, None]
    assert float(jnp.min(jnp.abs(outputs[:, 0] - outputs[:, 1]))) > 0
