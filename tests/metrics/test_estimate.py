"""A value and its standard error."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from plait.metrics import Estimate


def test_mean_has_the_standard_error_over_examples():
    terms = [1.0, 2.0, 3.0, 6.0]
    estimate = Estimate.of_mean(terms)
    assert estimate.value == 3.0
    assert estimate.standard_error == pytest.approx(np.std(terms, ddof=1) / 2)
    assert float(Estimate.of_mean(jnp.asarray(terms))) == 3.0


def test_root_mean_follows_the_delta_method(seed):
    # The spread of the root of a mean over many data sets is what the delta method says from one.
    rng = np.random.default_rng(seed)
    squares = rng.normal(size=(2000, 400)) ** 2
    estimates = [Estimate.of_root_mean(row) for row in squares]
    spread = np.std([estimate.value for estimate in estimates], ddof=1)
    assert np.mean([estimate.standard_error for estimate in estimates]) == pytest.approx(spread, rel=0.1)


def test_perfect_predictions_have_no_error():
    assert Estimate.of_root_mean(np.zeros(3)) == Estimate(0.0, 0.0)


def test_one_example_has_no_standard_error():
    assert math.isnan(Estimate.of_mean([2.0]).standard_error)
    assert str(Estimate.of_mean([2.0])) == "2 ± nan"


def test_no_example_is_an_error():
    with pytest.raises(ValueError, match="at least one example"):
        Estimate.of_mean([])


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.1234, 0.0041, "0.123 ± 0.004"),
        (0.1234, 0.0123, "0.123 ± 0.012"),
        (97.61, 0.15, "97.61 ± 0.15"),
        (0.5, 0.00199, "0.500 ± 0.002"),
        (0.5, 0.00099, "0.5000 ± 0.0010"),
        (1234.0, 56.0, "1230 ± 60"),
        (1.0, 1.0, "1.0 ± 1.0"),
        (-2.27, 0.06, "-2.27 ± 0.06"),
        (1.0, 0.0, "1 ± 0"),
    ],
)
def test_as_many_digits_as_the_error_allows(value, error, text):
    assert str(Estimate(value, error)) == text
