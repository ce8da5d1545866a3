import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.active.acquisition import ACQUISITIONS, find_acquisition, mutual_information, predictive_variance, uniform


def predict(train, problem, key, samples=4000):
    x, y = problem
    bnn = train(x[:5], y[:5], key=key)
    return bnn, plait.predict(bnn, x, key=key, num_samples=samples)


def test_scores_of_a_linear_regression_are_those_in_closed_form(train, problem, key):
    bnn, found = predict(train, problem, key)
    covariance = next(iter(bnn.posteriors.values())).covariance()
    variance = np.einsum("ni,ij,nj->n", problem[0], covariance, problem[0])
    # The relative error of a variance from S draws is sqrt(2 / S); five of them.
    error = 5 * np.sqrt(2 / 4000)
    np.testing.assert_allclose(predictive_variance(found), variance, rtol=error)
    np.testing.assert_allclose(
        mutual_information(found), 0.5 * np.log1p(variance / 0.3**2), atol=0.5 * error, rtol=error
    )


def test_chance_needs_a_key_and_differs_between_keys(train, problem, key):
    _, found = predict(train, problem, key, samples=2)
    with pytest.raises(ValueError, match="chance needs a key"):
        uniform(found)
    first, second = (uniform(found, key=jax.random.key(seed)) for seed in (0, 1))
    assert first.shape == (len(found),)
    assert not np.array_equal(first, second)


def test_of_classes_it_is_the_mutual_information_of_the_prediction(key):
    bnn = plait.bayesianize(
        jax.random.normal(key, (3, 4)),
        jnp.ones((1, 3)),
        apply=lambda w, x: x @ w,
        posterior=plait.MeanField(1.0),
        key=key,
    )
    found = plait.predict(bnn.with_likelihood(plait.Categorical()), jnp.eye(3), key=key, num_samples=20)
    np.testing.assert_array_equal(mutual_information(found), found.mutual_information)
    # The variances of four indicators, added up.
    np.testing.assert_allclose(predictive_variance(found), found.epistemic.sum(axis=1))


def test_counts_have_no_formula_for_it(key):
    bnn = plait.bayesianize(jnp.ones((3, 1)), jnp.ones((1, 3)), apply=lambda w, x: x @ w, key=key)
    found = plait.predict(bnn.with_likelihood(plait.Poisson()), jnp.eye(3), key=key, num_samples=2)
    with pytest.raises(ValueError, match=r"mutual information of counts .* use plait.active.predictive_variance"):
        mutual_information(found)


def test_they_are_known_by_name():
    assert find_acquisition("uniform") is uniform
    assert find_acquisition(len) is len
    assert set(ACQUISITIONS) == {"predictive_variance", "mutual_information", "uniform"}
    with pytest.raises(ValueError, match=r"`acquisition` must be one of 'predictive_variance', .*; got 'bald'"):
        find_acquisition("bald")
