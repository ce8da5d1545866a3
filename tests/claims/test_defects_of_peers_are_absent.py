"""What other libraries get wrong, one test for each (FIELD, "Defects of peers")."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import plait
from plait._random import signs
from plait.objective import elbo

INPUTS, OUTPUTS, DATA = 3, 2, 50


def linear(weight: jax.Array, x: jax.Array) -> jax.Array:
    return x @ weight


def build(
    family: plait.Family, weight: jax.Array, key: jax.Array, *, estimator: str | None = None
) -> plait.BayesianModel:
    x = jnp.ones((1, weight.shape[0]))
    return plait.bayesianize(weight, x, apply=linear, posterior=family, estimator=estimator, key=key)


def squared_error() -> plait.likelihood.Gaussian:
    return plait.likelihood.Gaussian(1.0)


# -- the weight of the KL ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [plait.MeanField(), plait.RankOne(2)], ids=lambda f: f.describe())
def test_an_epoch_pays_the_kl_once_whatever_the_batch_size(family: plait.Family, key: jax.Array):
    # The released rank-1 script adds the whole KL to every batch's mean loss; others divide by the batch size.
    bnn = build(family, jax.random.normal(key, (INPUTS, OUTPUTS)), key)
    kl = bnn.kl()
    for batch in (1, 5):
        data = jnp.ones((batch, INPUTS)), jnp.zeros((batch, OUTPUTS))
        loss, aux = elbo(bnn, data, key=key, likelihood=squared_error(), dataset_size=DATA)
        assert aux.kl == kl
        # The losses of the epoch's batches, weighted by their examples, add up to one KL.
        epoch = (DATA // batch) * batch * (loss - aux.nll)
        np.testing.assert_allclose(epoch, kl, rtol=1e-4)


def test_the_likelihood_is_a_mean_over_examples(key: jax.Array):
    bnn = build(plait.Point(), jax.random.normal(key, (INPUTS, OUTPUTS)), key)
    x, y = jnp.ones((1, INPUTS)), jnp.zeros((1, OUTPUTS))
    once, many = (
        elbo(bnn, (jnp.tile(x, (n, 1)), jnp.tile(y, (n, 1))), key=key, likelihood=squared_error(), dataset_size=DATA)
        for n in (1, 25)
    )
    np.testing.assert_allclose(once[0], many[0], rtol=1e-5)


# -- Flipout ----------------------------------------------------------------------------------------------------------


def test_signs_are_plus_or_minus_one_with_equal_probability(key: jax.Array):
    # Integers drawn uniformly from -1 to 3 have second moment 7/3: a noise of 1.53 standard deviations.
    drawn = signs(key, (10_000,), jnp.float32)
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    assert abs(jnp.mean(drawn)) < 6 / drawn.size**0.5


def test_flipout_noise_has_the_stated_standard_deviation(key: jax.Array):
    draws = 20_000
    bnn = build(plait.MeanField(0.3), jnp.zeros((INPUTS, OUTPUTS)), key, estimator="flipout")
    x = jax.random.normal(key, (2, INPUTS))
    y = jax.vmap(lambda k: bnn(x, key=k))(jax.random.split(key, draws))
    expected = jnp.square(x) @ bnn.posteriors["weight"].variance
    # Gaussian given the signs, and the signs do not change its variance: the usual error of a variance.
    error = expected * (2 / draws) ** 0.5
    assert jnp.all(jnp.abs(jnp.mean(jnp.square(y), axis=0) - expected) < 6 * error)


def test_flipout_perturbs_with_the_deviation_and_not_with_the_mean(key: jax.Array):
    # One weight: y_n = x_n M + s_n x_n (W - M) t_n, so the noise has one modulus for all examples, and the mean passes.
    bnn = build(plait.MeanField(0.3), jnp.full((1, 1), 100.0), key, estimator="flipout")
    noise = bnn(jnp.ones((64, 1)), key=key) - 100
    deviation = jnp.abs(noise)
    assert jnp.ptp(deviation) < 1e-3
    assert 0 < deviation[0, 0] < 10
    assert jnp.any(noise > 0)
    assert jnp.any(noise < 0)


# -- scales are standard deviations -----------------------------------------------------------------------------------


def test_a_prior_scale_is_a_standard_deviation():
    weight = jnp.array([0.3, -0.2])
    np.testing.assert_allclose(
        plait.Normal(0.2).log_prob(weight), scipy.stats.norm(scale=0.2).logpdf(weight).sum(), rtol=1e-5
    )


@pytest.mark.parametrize(
    "family",
    [
        plait.MeanField(0.04),
        plait.MeanField(0.04, transform="softplus"),
        plait.Tied(1, 0.04),
        plait.Tied(3, 0.04),
        plait.MatrixNormal(init_scale=0.04),
        plait.MatrixNormalPlusDiagonal(init_scale=0.04),
        plait.LowRank(init_scale=0.04),
        plait.FullCovariance(init_scale=0.04),
    ],
    ids=lambda f: f.describe(),
)
def test_an_initial_scale_is_a_standard_deviation(family: plait.Family, key: jax.Array):
    # Read as a variance it would be 0.2, as a logarithm 1.04. The initial noise of the scales is below 10 percent on
    # average over 12 x 10 weights (of log-scales on both sides, for Tied).
    posterior = build(family, jnp.zeros((12, 10)), key).posteriors["weight"]
    np.testing.assert_allclose(jnp.sqrt(jnp.mean(posterior.variance)), 0.04, rtol=0.3)


# -- recurrent weights ------------------------------------------------------------------------------------------------


def recurrent(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    """[N, T, d] -> [N, T, d]."""

    def step(h: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        h = jnp.tanh(x @ params["kernel"] + h @ params["recurrent"])
        return h, h

    _, states = jax.lax.scan(step, jnp.zeros((x.shape[0], 2)), jnp.moveaxis(x, 1, 0))
    return jnp.moveaxis(states, 0, 1)


def test_recurrent_weights_are_drawn_once_for_a_sequence(key: jax.Array):
    params = {"kernel": jax.random.normal(key, (INPUTS, 2)), "recurrent": jnp.eye(2)}
    x = jax.random.normal(key, (2, 5, INPUTS))
    bnn = plait.bayesianize(params, x, apply=recurrent, posterior=plait.Tied(2, 0.3), key=key)
    # All steps see the one draw that a plain network with these weights would see.
    np.testing.assert_allclose(bnn(x, key=key), recurrent(bnn.sample(key), x), rtol=1e-4, atol=1e-5)
    assert not np.allclose(bnn(x, key=key), recurrent(params, x), atol=1e-3)


def test_recurrent_factors_are_drawn_once_for_each_example(key: jax.Array):
    # Without a carry, equal inputs at all steps give equal states at all steps, and others in another example.
    params = {"kernel": jnp.full((INPUTS, 2), 0.3), "recurrent": jnp.zeros((2, 2))}
    x = jnp.ones((2, 4, INPUTS))
    family = plait.RankOne(1, dropout_rate=0.1)
    y = plait.bayesianize(params, x, apply=recurrent, posterior=family, key=key)(x, key=key)[0]
    np.testing.assert_allclose(y, jnp.broadcast_to(y[:, :1], y.shape), rtol=1e-5)
    assert jnp.all(y[0] != y[1])


# -- memory -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "numbers"),
    [
        (plait.MeanField(), 2),
        (plait.Tied(2), 1 + 2 * (40 + 30) / 1200),
        (plait.MatrixNormal("diagonal", "diagonal"), 1 + (40 + 30) / 1200),
        (plait.MatrixNormal(), 1 + (40 * 41 + 30 * 31) / 2400),
        (plait.RankOne(4), 1 + 4 * 2 * (40 + 30) / 1200),
    ],
    ids=lambda v: v.describe() if isinstance(v, plait.Family) else "",
)
def test_a_weight_costs_no_more_numbers_than_the_formula_says(family: plait.Family, numbers: float, key: jax.Array):
    bnn = build(family, jnp.zeros((40, 30)), key)
    stored = sum(leaf.size for leaf in jax.tree.leaves(bnn) if eqx.is_array(leaf))
    assert stored == bnn.num_params
    np.testing.assert_allclose(stored / 1200, numbers, rtol=1e-6)


# -- gradients at zero inputs -----------------------------------------------------------------------------------------


def test_zero_inputs_give_finite_gradients_under_local_reparametrisation(key: jax.Array):
    # A plain root of the variance has the gradient 0 * inf there.
    assert jnp.isnan(jax.grad(lambda scale: jnp.sqrt(0.0 * scale))(1.0))
    bnn = build(plait.MeanField(), jnp.ones((INPUTS, OUTPUTS)), key, estimator="local")
    x = jnp.zeros((2, INPUTS)).at[1, 0].set(1.0)
    loss, gradient = eqx.filter_value_and_grad(lambda b: jnp.sum(jnp.sin(b(x, key=key))))(bnn)
    assert jnp.isfinite(loss)
    assert all(bool(jnp.all(jnp.isfinite(leaf))) for leaf in jax.tree.leaves(gradient) if eqx.is_inexact_array(leaf))


# -- the start --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "family",
    [
        plait.Point(),
        plait.MeanField(),
        plait.Tied(2),
        plait.MatrixNormal(),
        plait.MatrixNormalPlusDiagonal(),
        plait.LowRank(),
        plait.FullCovariance(),
        plait.FullCovariance(joint=True),
        plait.RankOne(2, random_sign_init=1.0),
    ],
    ids=lambda f: f.describe(),
)
def test_the_means_start_at_the_given_weights(family: plait.Family, key: jax.Array):
    weight = 10 * jax.random.normal(key, (INPUTS, OUTPUTS))
    bnn = build(family, weight, key)
    np.testing.assert_array_equal(bnn.mean(), weight)
    x = jax.random.normal(key, (4, INPUTS))
    mean = jnp.broadcast_to((x @ weight)[None], (2, 4, OUTPUTS)) if bnn.components else x @ weight
    np.testing.assert_allclose(bnn(x, key=None), mean, rtol=1e-5, atol=1e-4)


# -- rank-1 in JAX ----------------------------------------------------------------------------------------------------


def test_rank_one_divides_its_kl_by_the_data_and_draws_for_each_example(key: jax.Array):
    bnn = build(plait.RankOne(2), jax.random.normal(key, (INPUTS, OUTPUTS)), key)
    data = jnp.ones((4, INPUTS)), jnp.zeros((4, OUTPUTS))
    loss, aux = elbo(bnn, data, key=key, likelihood=squared_error(), dataset_size=DATA)
    np.testing.assert_allclose(loss - aux.nll, bnn.kl() / DATA, rtol=1e-4)
    y = bnn(data[0], key=key)
    assert len(np.unique(y[:, :, 0])) == 2 * 4
