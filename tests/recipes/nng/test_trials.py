import numpy as np
import pytest

from plait.recipes.nng.trials import draw_trials


@pytest.fixture(scope="module")
def trials():
    return draw_trials("diabetes", None, trials=2, points=50, hidden_inputs=10, seed=0)


def test_inputs_are_scaled_by_those_that_may_be_seen(trials):
    assert trials.x.shape == (2, 50, 10)
    assert len(trials) == 2
    np.testing.assert_allclose(trials.x[:, :40].mean(axis=1), 0, atol=1e-5)
    np.testing.assert_allclose(trials.x[:, :40].std(axis=1), 1, atol=1e-5)
    assert np.abs(trials.x.mean(axis=1)).max() > 1e-3
    # Other points in another trial.
    assert not np.array_equal(trials.y[0], trials.y[1])


def test_targets_are_scaled_by_the_labelled_ones(trials):
    indices = np.asarray([np.arange(5), np.arange(10, 15)])
    x, y, scalers = trials.labelled(indices)
    np.testing.assert_array_equal(x[1], trials.x[1, 10:15])
    np.testing.assert_allclose(y.mean(axis=1), 0, atol=1e-5)
    np.testing.assert_allclose(scalers[1].original_mean(y[1]), trials.y[1, 10:15], rtol=1e-5)


def test_a_seed_is_a_choice_of_points(trials):
    again = draw_trials("diabetes", None, trials=2, points=50, hidden_inputs=10, seed=0)
    np.testing.assert_array_equal(again.y, trials.y)
    other = draw_trials("diabetes", None, trials=1, points=50, seed=1)
    assert not np.array_equal(other.y[0], trials.y[0])


def test_a_trial_takes_no_more_points_than_there_are():
    with pytest.raises(ValueError, match=r"diabetes has \d+ points, and a trial takes 5000"):
        draw_trials("diabetes", None, trials=1, points=5000, seed=0)
