"""KL weights over training, by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait

TRAINING = {"steps_per_epoch": 10, "total_steps": 200}
SCHEDULES = {
    "constant": plait.constant(0.3),
    "linear": plait.linear_annealing(epochs=4),
    "stepwise": plait.stepwise_annealing(0.01, 30),
    "exponential": plait.exponential_annealing(epochs=4),
    "cyclic": plait.cyclic_annealing(3),
}


def weights(schedule: plait.Schedule, steps: list[int]) -> list[float]:
    return [float(schedule.weight(step, **TRAINING)) for step in steps]


def test_constant_is_constant():
    assert weights(plait.constant(0.25), [0, 7, 10_000]) == [0.25] * 3


@pytest.mark.parametrize("span", [{"steps": 40}, {"epochs": 4}, {"fraction": 0.2}])
def test_linear_rises_over_steps_epochs_or_a_fraction_of_training(span):
    steps = [0, 10, 20, 40, 150]
    np.testing.assert_allclose(weights(plait.linear_annealing(**span), steps), [0, 0.25, 0.5, 1, 1])
    np.testing.assert_allclose(
        weights(plait.linear_annealing(**span, start=1, end=0.2), steps), [1, 0.8, 0.6, 0.2, 0.2], rtol=1e-6
    )


def test_stepwise_is_the_staircase_of_the_k_tied_paper():
    # MATH 1.2: with c = 5e-5, 14,700 steps end at 0.735.
    schedule = plait.stepwise_annealing()
    np.testing.assert_allclose(weights(schedule, [0, 99, 100, 250, 14_700]), [0, 0, 5e-3, 1e-2, 0.735], rtol=1e-6)
    assert weights(schedule, [30_000]) == [1]


def test_exponential_rises_by_equal_factors():
    found = weights(plait.exponential_annealing(steps=30, start=1e-3), [0, 10, 20, 30, 100])
    np.testing.assert_allclose(found, [1e-3, 1e-2, 1e-1, 1, 1], rtol=1e-5)


def test_cycles_start_again_from_zero():
    schedule = plait.cyclic_annealing(cycles=4, rising=0.5)
    np.testing.assert_allclose(weights(schedule, [0, 10, 25, 49, 50, 60, 199]), [0, 0.4, 1, 1, 0, 0.4, 1], rtol=1e-6)


def test_cycles_that_do_not_divide_training_begin_on_whole_steps():
    found = weights(plait.cyclic_annealing(cycles=3, rising=1.0), list(range(200)))
    assert [step for step, weight in enumerate(found) if weight == 0] == [0, 67, 134]


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_lives_inside_a_scan(name):
    schedule = SCHEDULES[name]
    _, traced = jax.lax.scan(lambda c, t: (c, schedule.weight(t, **TRAINING)), None, jnp.arange(200))
    assert traced.dtype == jnp.float32
    np.testing.assert_allclose(traced, weights(schedule, list(range(200))), rtol=1e-6)
    assert 0 <= float(traced.min()) <= float(traced.max()) <= 1


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_values(name):
    assert SCHEDULES[name] == SCHEDULES[name]
    assert len({SCHEDULES[name], SCHEDULES[name]}) == 1
    assert plait.linear_annealing(epochs=4) == plait.linear_annealing(epochs=4)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: plait.constant(-1), "`value` is a KL weight"),
        (lambda: plait.linear_annealing(), "got none"),
        (lambda: plait.linear_annealing(steps=1, epochs=2), "got steps and epochs"),
        (lambda: plait.linear_annealing(epochs=0), "above 0"),
        (lambda: plait.linear_annealing(fraction=2), "at most 1"),
        (lambda: plait.linear_annealing(epochs=1, start=-1), "`start` is a KL weight"),
        (lambda: plait.linear_annealing(epochs=1, end=float("inf")), "`end` is a KL weight"),
        (lambda: plait.stepwise_annealing(0.0), "`coefficient`"),
        (lambda: plait.stepwise_annealing(every=0), "`every`"),
        (lambda: plait.exponential_annealing(epochs=3, start=0.0), "`start` is the first weight"),
        (lambda: plait.cyclic_annealing(0), "`cycles`"),
        (lambda: plait.cyclic_annealing(rising=1.5), "`rising`"),
    ],
)
def test_impossible_schedules_are_refused(make, says):
    with pytest.raises(ValueError, match=says):
        make()
