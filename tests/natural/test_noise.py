"""The likelihood's own numbers under a natural-gradient method."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait


class Odd(plait.Gaussian):
    """A likelihood of a user's own, with a trained number and no closed form."""

    updated = plait.Likelihood.updated


def fit(bnn: Any, data: Any, likelihood: Any, noise: Any, epochs: int = 60) -> Any:
    method = plait.NoisyKFAC(noise=noise, learning_rate=0.02, statistics_every=1, inverse_every=5)
    key = jax.random.key(0)
    return plait.fit(bnn, data, likelihood=likelihood, optimizer=method, batch_size=24, epochs=epochs, key=key).model


@pytest.mark.parametrize("likelihood", [plait.GammaGaussian(), plait.Gaussian("learned")])
def test_gradients_and_closed_forms_find_the_same_noise(likelihood: Any, model: Any, data: Any):
    closed, trained = (fit(model, data, likelihood, noise, 300) for noise in (0.1, optax.adam(0.03)))
    deviations = [float(jnp.sqrt(bnn.likelihood.variance(data[1])[0, 0])) for bnn in (closed, trained)]
    assert deviations[0] < 0.8
    np.testing.assert_allclose(deviations[0], deviations[1], rtol=0.15)


def test_a_rate_of_zero_and_likelihoods_without_numbers_change_nothing(model: Any, data: Any):
    kept = fit(model, data, plait.GammaGaussian(), 0.0, 2).likelihood
    np.testing.assert_allclose([kept.shape, kept.rate], 6.0, rtol=1e-6)
    assert eqx.tree_equal(fit(model, data, plait.Gaussian(0.3), optax.adam(0.1), 2).likelihood, plait.Gaussian(0.3))


def test_a_likelihood_that_cannot_be_updated_is_refused(model: Any, data: Any):
    with pytest.raises(ValueError, match=r"Odd has trained numbers and no closed-form update.*noise=optax.adam"):
        fit(model, data, Odd("learned"), 0.1)
    moved = fit(model, data, Odd("learned"), optax.adam(0.05), 5).likelihood
    assert float(moved.scale(data[1])[0, 0]) != 1.0


def test_method_without_a_likelihood_starts(model: Any):
    assert plait.NoisyAdam().init(model).noise is None
