"""Linear regressions, whose posteriors are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

import plait
from plait.recipes.nuts import (
    Agreement,
    Sampling,
    function_draws,
    log_posterior,
    log_prob,
    sample_posterior,
    with_draws,
)

KEY, NOISE, INPUTS = jax.random.key(3), 0.5, 2
SAMPLING = Sampling(chains=4, warmup=150, draws=150, max_doublings=4)


def forward(weights, x):
    return x @ weights["w"] + weights["b"][None]


def make_model(likelihood, **options):
    weights = {"w": jnp.zeros((INPUTS, 1)), "b": jnp.full(1, 0.25)}
    given = {"posterior": {"w": plait.MeanField(), "b": plait.Point()}, "prior": plait.Normal(2.0)} | options
    bnn = plait.bayesianize(weights, jnp.zeros((1, INPUTS)), apply=forward, key=KEY, **given)
    return bnn.with_likelihood(likelihood)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(12, INPUTS)).astype(np.float32)
    return jnp.asarray(x), jnp.asarray(x @ [[1.0], [-1.0]] + NOISE * rng.normal(size=(12, 1)), jnp.float32)


@pytest.fixture(scope="module")
def sampled(data):
    bnn = make_model(plait.Gaussian(NOISE))
    return bnn, jax.jit(lambda key: sample_posterior(bnn, data, key=key, sampling=SAMPLING))(KEY)


def test_draws_have_the_moments_of_the_exact_posterior(sampled, data):
    bnn, chains = sampled
    x, y = data
    covariance = jnp.linalg.inv(x.T @ x / NOISE**2 + jnp.eye(INPUTS) / 4)
    mean = covariance @ (x.T @ (y - 0.25)) / NOISE**2
    draws = np.asarray(chains.weights["w"]).reshape(-1, INPUTS)
    found = Agreement.of(function_draws(bnn, chains, x), chains.divergent)
    assert found.rhat < 1.1
    assert found.median_rhat <= found.rhat
    assert 100 < found.ess <= found.median_ess
    assert found.divergent == 0
    # Five standard errors of a mean, and of a variance, from so many effective draws.
    error = 5 / np.sqrt(found.ess)
    std = np.sqrt(np.diagonal(covariance))
    np.testing.assert_allclose(draws.mean(axis=0) / std, mean[:, 0] / std, atol=error)
    np.testing.assert_allclose(draws.std(axis=0), std, rtol=error)


def test_constants_stay_and_the_model_predicts(sampled, data):
    bnn, chains = sampled
    model = with_draws(bnn, chains, data)
    assert set(chains.weights) == {"w"}
    np.testing.assert_allclose(model.draw_weights(KEY)["b"], 0.25)
    assert {row.path: row.posterior for row in model.sites} == {"w": "Draws(600)", "b": "Point"}
    found = plait.predict(model, data[0], key=KEY, num_samples=50)
    outputs = np.asarray(function_draws(bnn, chains, data[0]))
    # Of 50 draws out of 600.
    spread = outputs.std(axis=(0, 1)) * 5 / np.sqrt(50)
    assert (np.abs(found.mean - outputs.mean(axis=(0, 1))) < spread).all()
    with pytest.raises(ValueError, match="no KL"):
        model.kl()


def test_unknown_noise_is_integrated_out(data):
    x, y = data
    log_density = log_posterior(make_model(plait.GammaGaussian(3.0, 2.0)), data)

    def by_quadrature(weight):
        squares = float(jnp.sum(jnp.square(y - forward({"w": weight, "b": jnp.full(1, 0.25)}, x))))
        scaled = quad(lambda t: t ** (2 + len(y) / 2) * np.exp(-t * (2 + squares / 2)), 0, np.inf)[0]
        return np.log(scaled) - 0.5 * float(jnp.sum(jnp.square(weight))) / 4

    pair = [jnp.asarray(values, jnp.float32) for values in ([[1.0], [-1.0]], [[0.2], [0.5]])]
    ours, theirs = (
        [function(weight) for weight in pair] for function in (lambda w: log_density({"w": w}), by_quadrature)
    )
    assert float(ours[0] - ours[1]) == pytest.approx(theirs[0] - theirs[1], rel=1e-4)


def test_densities_average_over_draws_with_a_noise_of_their_own(sampled, data):
    _, chains = sampled
    bnn = make_model(plait.GammaGaussian(3.0, 2.0))
    test = (data[0][:3], data[1][:3])
    found = log_prob(bnn, chains, data, test)
    densities = []
    for weight in np.asarray(chains.weights["w"]).reshape(-1, INPUTS, 1):
        outputs = forward({"w": jnp.asarray(weight), "b": jnp.full(1, 0.25)}, data[0])
        # Student's t, from the Gamma posterior of the precision given the weights.
        shape, rate = 3 + 6, 2 + 0.5 * np.square(np.asarray(data[1] - outputs)).sum()
        gap = np.asarray(data[1][:3] - outputs[:3])[:, 0]
        densities.append(stats.t.pdf(gap, 2 * shape, scale=np.sqrt(rate / shape)))
    np.testing.assert_allclose(found, np.log(np.mean(densities, axis=0)), rtol=1e-4)


def test_one_chain_has_nothing_to_agree_with():
    with pytest.raises(ValueError, match="R-hat compares chains, and there is 1"):
        Agreement.of(jnp.zeros((1, 10, 3)), jnp.zeros((1, 10)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chains": 0}, "`chains` must be a positive integer, got 0"),
        ({"draws": 3}, "`draws` of a chain must be at least 4"),
        ({"target_acceptance": 1.0}, r"`target_acceptance` must lie in \(0, 1\), got 1.0"),
    ],
)
def test_settings_that_cannot_work_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Sampling(**options)


def test_models_without_a_density_are_refused(data):
    with pytest.raises(ValueError, match="likelihood of targets given outputs is not known"):
        log_posterior(make_model(None), data)
    with pytest.raises(ValueError, match="Gaussian has trained numbers and no prior for them"):
        log_posterior(make_model(plait.Gaussian("learned")), data)
    with pytest.raises(ValueError, match="need a normal prior with a given scale"):
        log_posterior(make_model(plait.Gaussian(1.0), prior=plait.LearnedNormal()), data)
    mixture = make_model(plait.Gaussian(1.0), posterior={"w": plait.RankOne(2), "b": plait.Point()}, prior=None)
    with pytest.raises(ValueError, match="a mixture of 2 components has its priors on factors"):
        log_posterior(mixture, data)
