"""Paper 003 and its errata E17, E19 and E22 (MATH 2): W_k = W o (r_k s_k^T), r and s random, K components."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate

import plait
from plait._random import key_for
from plait.analysis import mixture_kl
from plait.posterior import CauchyPosterior, MeanFieldPosterior, RankOnePosterior
from plait.posterior.rank_one import ComponentVector
from plait.site import Layout

INPUTS, OUTPUTS, COMPONENTS = 12, 8, 4


def affine(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    return x @ params["w"] + params["b"][None]


def build(family: plait.RankOne, key: jax.Array, **options: Any) -> plait.BayesianModel:
    weight = jax.random.normal(key, (INPUTS, OUTPUTS))
    x = jnp.ones((3, INPUTS))
    params = {"w": weight, "b": jnp.zeros(OUTPUTS)}
    return plait.bayesianize(params, x, apply=affine, posterior=family, key=key, **options)


def factors(family: plait.RankOne, size: int, key: jax.Array) -> Any:
    posterior = family.initialise(jnp.ones((size, 2)), Layout.matrix((size, 2), [0]), key=key)
    assert isinstance(posterior, RankOnePosterior)
    return posterior.rows


# -- the layer --------------------------------------------------------------------------------------------------------


def test_the_two_products_equal_the_explicit_weight(key: jax.Array):
    bnn = build(plait.RankOne(2, dropout_rate=0.1), key)
    biases = jax.random.normal(key, (2, OUTPUTS))
    bnn = eqx.tree_at(lambda b: b.posteriors["b"].values, bnn, biases)
    x = jax.random.normal(key, (3, INPUTS))
    one = bnn.component(1)
    draw = one.posteriors["w"].draw(key_for(key, "w"), 3)
    assert draw.rows.shape == (3, INPUTS)
    assert draw.columns.shape == (3, OUTPUTS)
    weights = draw.kernel[None] * draw.rows[:, :, None] * draw.columns[:, None, :]
    explicit = jnp.einsum("ni,nio->no", x, weights) + biases[1][None]
    np.testing.assert_allclose(one(x, key=key), explicit, rtol=1e-4, atol=1e-5)


def test_equal_rows_of_a_batch_get_different_factors(key: jax.Array):
    bnn = build(plait.RankOne(COMPONENTS), key)
    y = bnn(jnp.ones((2, INPUTS)), key=key)
    assert y.shape == (COMPONENTS, 2, OUTPUTS)
    assert jnp.all(y[:, 0] != y[:, 1])


def test_every_component_has_a_bias_of_its_own(key: jax.Array):
    bnn = build(plait.RankOne(COMPONENTS), key)
    assert isinstance(bnn.posteriors["b"], ComponentVector)
    assert bnn.posteriors["b"].values.shape == (COMPONENTS, OUTPUTS)
    moved = eqx.tree_at(lambda b: b.posteriors["b"].values, bnn, replace_fn=lambda v: v.at[1].add(1))
    x = jnp.ones((3, INPUTS))
    gap = moved(x, key=key) - bnn(x, key=key)
    np.testing.assert_allclose(gap[1], 1, rtol=1e-4)
    assert jnp.all(gap[jnp.array([0, 2, 3])] == 0)


def test_the_clip_bounds_the_factors_and_leaves_the_kl(key: jax.Array):
    # A standard Cauchy exceeds 10 with probability 0.063: among 400 x 20 draws, surely.
    wild = plait.RankOne(COMPONENTS, family="cauchy", dropout_rate=0.5)
    draws, kls = {}, {}
    for clip in (10.0, None):
        family = plait.RankOne(COMPONENTS, family="cauchy", dropout_rate=wild.dropout_rate, clip=clip)
        bnn = build(family, key)
        draw = bnn.component(0).posteriors["w"].draw(key, 400)
        draws[clip] = jnp.concatenate([draw.rows, draw.columns], axis=1)
        kls[clip] = bnn.kl()
    assert jnp.max(jnp.abs(draws[None])) > 10
    np.testing.assert_array_equal(draws[10.0], jnp.clip(draws[None], -10, 10))
    assert kls[10.0] == kls[None]


# -- the start --------------------------------------------------------------------------------------------------------


def test_random_signs_are_plus_one_with_the_given_probability(key: jax.Array):
    size, probability = 5_000, 0.75
    mean = factors(plait.RankOne(COMPONENTS, random_sign_init=probability), size, key).mean
    assert jnp.all(jnp.abs(mean) == 1)
    error = (probability * (1 - probability) / mean.size) ** 0.5
    assert abs(jnp.mean(mean == 1) - probability) < 6 * error


def test_a_negative_sign_init_is_the_standard_deviation_around_one(key: jax.Array):
    mean = factors(plait.RankOne(COMPONENTS, random_sign_init=-0.5), 5_000, key).mean
    assert abs(jnp.mean(mean) - 1) < 6 * 0.5 / mean.size**0.5
    assert abs(jnp.std(mean) - 0.5) < 6 * 0.5 / (2 * mean.size) ** 0.5


@pytest.mark.parametrize(
    ("rate", "scale", "rho"), [(1e-3, 0.03164, -3.4375), (1e-6, 0.0010000, -6.9073), (5e-7, 7.071e-4, -7.2540)]
)
def test_a_dropout_rate_is_no_standard_deviation(rate: float, scale: float, rho: float, key: jax.Array):
    # E19: the printed "stds 10^-3" are rates p, the standard deviation is sqrt(p / (1 - p)).
    cauchy = factors(plait.RankOne(COMPONENTS, family="cauchy", dropout_rate=rate), 3, key)
    np.testing.assert_allclose(cauchy.scale, scale, rtol=2e-4)
    np.testing.assert_allclose(cauchy.unconstrained, rho, atol=1e-4)
    # Gaussian factors start at N(rho, 0.1^2) truncated to two standard deviations.
    gaussian = factors(plait.RankOne(COMPONENTS, dropout_rate=rate), 500, key).unconstrained
    assert jnp.all(jnp.abs(gaussian - rho) <= 0.2 + 1e-4)
    assert abs(jnp.mean(gaussian) - rho) < 6 * 0.1 / gaussian.size**0.5 + 1e-4


# -- the KL -----------------------------------------------------------------------------------------------------------


def quadrature(location: float, scale: float, prior_location: float, prior_scale: float) -> float:
    """KL between Cauchy densities, with W = l + g tan(t), which makes q uniform in t."""

    def log_density(w: float, centre: float, width: float) -> float:
        return -np.log(np.pi * width * (1 + ((w - centre) / width) ** 2))

    def integrand(t: float) -> float:
        w = location + scale * np.tan(t)
        return (log_density(w, location, scale) - log_density(w, prior_location, prior_scale)) / np.pi

    return scipy.integrate.quad(integrand, -np.pi / 2, np.pi / 2, epsabs=1e-11)[0]


@pytest.mark.parametrize("one", [(0.0, 1.0), (0.3, 0.7), (-2.0, 0.05)])
@pytest.mark.parametrize("other", [(1.0, 1.0), (0.5, 2.5)])
def test_the_cauchy_kl_is_closed_form_and_symmetric(one: tuple[float, float], other: tuple[float, float]):
    def kl(q: tuple[float, float], p: tuple[float, float]) -> jax.Array:
        rho = jnp.log(jnp.expm1(jnp.array([q[1]])))
        posterior = CauchyPosterior(jnp.array([q[0]]), rho, Layout.vector((1,)))
        return plait.Cauchy(p[1], location=p[0]).kl(posterior, key=None)

    with jax.enable_x64(True):
        np.testing.assert_allclose(kl(one, other), quadrature(*one, *other), rtol=1e-9)
        np.testing.assert_allclose(kl(one, other), kl(other, one), rtol=1e-12)


def test_the_sum_over_components_is_k_times_their_mean(key: jax.Array):
    kls = [build(plait.RankOne(COMPONENTS, kl_reduction=how), key).kl() for how in ("sum", "mean")]
    np.testing.assert_allclose(kls[0], COMPONENTS * kls[1], rtol=1e-6)


def test_the_mean_over_components_bounds_the_kl_of_the_mixture(key: jax.Array):
    # E22, on 20 factors: components that lie far apart have KL(mixture) = mean - log K; equal ones have the mean.
    bnn = build(plait.RankOne(COMPONENTS, random_sign_init=0.5), key)
    equal = jax.tree.map(
        lambda leaf: jnp.broadcast_to(leaf[:1], leaf.shape), (bnn.posteriors["w"].rows, bnn.posteriors["w"].columns)
    )
    same = eqx.tree_at(lambda b: (b.posteriors["w"].rows, b.posteriors["w"].columns), bnn, equal)
    near = build(plait.RankOne(COMPONENTS, random_sign_init=-0.01), key)
    for model, gain in ((bnn, np.log(COMPONENTS)), (same, 0.0), (near, None)):
        found = mixture_kl(model, key=key, num_samples=500)
        estimate, error = found.value, found.standard_error
        bound = float(model.kl())
        slack = 6 * error + 1e-5 * bound
        assert estimate <= bound + slack
        assert estimate >= bound - np.log(COMPONENTS) - slack
        if gain is not None:
            assert abs(estimate - (bound - gain)) < slack


# -- the variance structure (appendix A, equation 4 and theorem 1) ----------------------------------------------------

UNITS = 3
"""As many outputs as inputs: only then does the printed index mean anything."""


def input_factors(kernel: jax.Array, key: jax.Array) -> RankOnePosterior:
    """W* o (1 s^T) in the paper's orientation, out x in: s acts on inputs, which are rows of our matrix view."""
    rho = jax.random.normal(key, (UNITS,)) - 1
    s = MeanFieldPosterior(jnp.ones(UNITS, kernel.dtype), rho, Layout.vector((UNITS,)))
    return RankOnePosterior(kernel, s, None, Layout.matrix((UNITS, UNITS), [1]), None, None, "mean")


def test_the_covariance_is_indexed_by_both_inputs(key: jax.Array):
    # E17: Cov(W_ij, W_kl) = W*_ij Sigma_jl W*_kl; the print has Sigma_jk, an input index beside an output index.
    kernel = 1 + jax.random.uniform(key, (UNITS, UNITS))
    posterior = input_factors(kernel, key)
    sigma = jnp.diag(posterior.rows.variance)
    expected = np.asarray(jnp.einsum("ij,jl,kl->ijkl", kernel, sigma, kernel))
    printed = np.asarray(jnp.einsum("ij,jk,kl->ijkl", kernel, sigma, kernel))
    dense = posterior.covariance().reshape(expected.shape)
    np.testing.assert_allclose(dense, expected, rtol=1e-4, atol=1e-5 * expected.max())

    draws = 20_000
    deviation = np.asarray(jax.vmap(posterior.sample)(jax.random.split(key, draws)) - kernel[None])
    products = np.einsum("nij,nkl->nijkl", deviation, deviation)
    empirical, error = products.mean(0), products.std(0) / draws**0.5
    np.testing.assert_array_less(np.abs(empirical - expected), 6 * error + 1e-6)
    # The print gives W_01 no variance at all.
    assert printed[0, 1, 0, 1] == 0
    assert empirical[0, 1, 0, 1] > 6 * error[0, 1, 0, 1]


def test_theorem_1_holds_with_the_corrected_covariance(key: jax.Array):
    # f(x | W) = a^T sqrt(c / M) sigma(W x), one hidden layer and a smooth activation: to second order, the
    # fluctuations E<W - W*, H_W (W - W*)> and E<s - 1, H_s (s - 1)> of the two parametrisations are equal.
    with jax.enable_x64(True):
        keys = jax.random.split(key, 5)
        kernel, root = (jax.random.normal(k, (UNITS, UNITS)) for k in keys[:2])
        a, x = (jax.random.normal(k, (UNITS,)) for k in keys[2:4])
        scale = (2.0 / UNITS) ** 0.5

        def score(weight: jax.Array) -> jax.Array:
            return a @ (scale * jnp.tanh(weight @ x))

        over_weights = jax.hessian(score)(kernel)
        over_factors = jax.hessian(lambda s: score(kernel * s[None]))(jnp.ones(UNITS))

        def full_rank(covariance: jax.Array) -> jax.Array:
            return jnp.einsum("ijkl,ijkl->", over_weights, covariance.reshape(over_weights.shape))

        def rank_one(sigma: jax.Array) -> jax.Array:
            return jnp.einsum("jl,jl->", over_factors, sigma)

        # For any covariance of s, and for that of the library, which is diagonal, through its dense form.
        sigma, ours = root @ root.T, input_factors(kernel, keys[4])
        corrected = jnp.einsum("ij,jl,kl->ijkl", kernel, sigma, kernel)
        np.testing.assert_allclose(full_rank(corrected), rank_one(sigma), rtol=1e-10, atol=1e-10)
        library = rank_one(jnp.diag(ours.rows.variance))
        np.testing.assert_allclose(full_rank(ours.covariance()), library, rtol=1e-10, atol=1e-10)
        printed = jnp.einsum("ij,jk,kl->ijkl", kernel, sigma, kernel)
        assert abs(full_rank(printed) - rank_one(sigma)) > 1e-6

        # Lemma 1, equation 6: the curvature of the activation, weighted by the next layer.
        hidden = jnp.tanh(kernel @ x)
        projected = kernel * x[None]
        spread = jnp.diagonal(projected @ sigma @ projected.T)
        lemma = scale * jnp.sum(spread * a * -2 * hidden * (1 - hidden**2))
        np.testing.assert_allclose(rank_one(sigma), lemma, rtol=1e-10, atol=1e-10)
