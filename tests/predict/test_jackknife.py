"""The jackknife against the spread that it estimates."""

import jax.numpy as jnp
import numpy as np
import pytest

from plait.likelihood import Gaussian
from plait.predict.jackknife import GROUPS, jackknife_error, leave_one_out, merge_all
from plait.predict.moments import Moments


def test_for_a_mean_it_is_the_standard_error(seed):
    values = np.random.default_rng(seed).normal(size=12)
    without = [np.delete(values, g).mean() for g in range(12)]
    assert jackknife_error(without) == pytest.approx(values.std(ddof=1) / np.sqrt(12))
    assert jackknife_error([0.1 + 0.2] * 5) == 0


def test_for_a_log_mean_it_is_the_spread_over_repetitions(seed):
    rng = np.random.default_rng(seed)
    draws = rng.gamma(3.0, size=(500, GROUPS, 20))
    errors = [jackknife_error([np.log(np.delete(groups, g, axis=0).mean()) for g in range(GROUPS)]) for groups in draws]
    spread = np.log(draws.mean((1, 2))).std(ddof=1)
    # The spread of 500 values is known to 3 %, the mean of their squared errors to 2 %.
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(spread, rel=0.17)


def test_groups_are_left_out_one_by_one(seed):
    outputs = jnp.asarray(np.random.default_rng(seed).normal(size=(6, 3, 1)), jnp.float32)
    groups = [Moments.of(Gaussian(), outputs[2 * g : 2 * g + 2], None, None) for g in range(3)]
    np.testing.assert_allclose(merge_all(groups).mean, outputs.mean(0), rtol=1e-4, atol=1e-6)
    for g, rest in enumerate(leave_one_out(groups)):
        assert rest.count == 4
        np.testing.assert_allclose(
            rest.mean, np.delete(outputs, [2 * g, 2 * g + 1], axis=0).mean(0), rtol=1e-4, atol=1e-6
        )
