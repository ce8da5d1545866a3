from dataclasses import replace

import jax
import numpy as np
import pytest

import plait
from plait import data
from plait.recipes.building import build_model, choose_likelihood
from plait.recipes.facts import Facts
from plait.recipes.options import ModelOptions


@pytest.fixture
def digits():
    return Facts.of(data.load("digits"), "digits")


@pytest.fixture
def diabetes():
    return Facts.of(data.load("diabetes", standardize=True), "diabetes")


def test_the_likelihood_fits_the_targets(digits, diabetes):
    assert isinstance(choose_likelihood(ModelOptions(), digits), plait.Categorical)
    assert isinstance(choose_likelihood(ModelOptions(), replace(digits, task="binary")), plait.Bernoulli)
    assert choose_likelihood(ModelOptions(), diabetes).noise == "learned"
    assert choose_likelihood(ModelOptions(noise="predicted"), diabetes).noise == "predicted"
    assert isinstance(choose_likelihood(ModelOptions(likelihood="poisson"), diabetes), plait.Poisson)


def test_given_noise_is_in_the_units_of_the_data(diabetes):
    likelihood = choose_likelihood(ModelOptions(noise=50.0), diabetes)
    np.testing.assert_allclose(likelihood.fixed_scale * diabetes.standardizer.y_scale, 50.0, rtol=1e-6)
    unscaled = Facts.of(data.load("diabetes"), "diabetes")
    assert choose_likelihood(ModelOptions(noise=50.0), unscaled).fixed_scale == 50.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ModelOptions(likelihood="gaussian"), "'gaussian' does not fit the targets of digits, a classification"),
        (ModelOptions(noise=0.1), "`noise` is an option of the gaussian likelihood"),
    ],
)
def test_a_likelihood_that_does_not_fit_is_refused(digits, options, message):
    with pytest.raises(ValueError, match=message):
        choose_likelihood(options, digits)


def test_noise_must_be_positive(diabetes):
    with pytest.raises(ValueError, match="must be positive"):
        choose_likelihood(ModelOptions(noise=-1.0), diabetes)


def test_a_model_has_the_network_the_posterior_and_the_prior(digits):
    options = ModelOptions(widths=(3,), posterior="low-rank", rank=1, prior="normal", prior_scale=0.3)
    bnn = build_model(options, digits, key=jax.random.key(0))
    first = bnn.sites[0]
    assert (first.shape, first.posterior, first.prior) == ((3, 64), "LowRank(1)", "Normal(0.3)")
    assert isinstance(bnn.likelihood, plait.Categorical)
    assert bnn(digits.example_inputs(), key=None).shape == (2, 10)


def test_rank_one_keeps_its_own_prior(digits):
    bnn = build_model(ModelOptions(widths=(3,), posterior="rank-1"), digits, key=jax.random.key(0))
    assert bnn.sites[0].prior == "Normal(0.1, mean=1)"
    with pytest.raises(ValueError, match="`prior_scale` of rank-1 factors needs a `prior`"):
        build_model(ModelOptions(posterior="rank-1", prior_scale=1.0), digits, key=jax.random.key(0))


def test_predicted_noise_doubles_the_outputs(diabetes):
    bnn = build_model(ModelOptions(widths=(3,), noise="predicted"), diabetes, key=jax.random.key(0))
    assert bnn(diabetes.example_inputs(), key=None).shape == (2, 2)
