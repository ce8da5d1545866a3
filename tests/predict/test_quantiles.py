"""Quantiles of draws."""

import numpy as np
import pytest

from plait.predict.quantiles import check_levels, predictive_quantiles


def test_they_stand_at_p_of_s_plus_one():
    draws = np.arange(1.0, 10.0)[:, None]
    np.testing.assert_allclose(predictive_quantiles(draws, (0.1, 0.25, 0.5, 0.99))[:, 0], [1, 2.5, 5, 9])


def test_intervals_of_few_draws_cover_what_they_say(seed):
    rng = np.random.default_rng(seed)
    repeats, size = 20_000, 40
    low, high = predictive_quantiles(rng.normal(size=(size, repeats)), (0.05, 0.95))
    new = rng.normal(size=repeats)
    covered = ((low <= new) & (new <= high)).mean()
    assert covered == pytest.approx(0.9, abs=5 * np.sqrt(0.09 / repeats))


@pytest.mark.parametrize("levels", [(0.5, 1.0), (0.0,), (float("nan"),), ()])
def test_levels_are_probabilities(levels):
    with pytest.raises(ValueError, match="between 0 and 1"):
        check_levels(levels)
