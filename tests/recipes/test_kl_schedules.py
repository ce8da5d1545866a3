from typing import get_args

import pytest

from plait.recipes.kl_schedules import KLScheduleName, make_kl_schedule


def weights(name, weight=0.1, warmup=None, total=100_000):
    schedule = make_kl_schedule(name, weight, warmup)
    steps = (0, total // 4, total - 1)
    return [float(schedule.weight(step, steps_per_epoch=10, total_steps=total)) for step in steps]


@pytest.mark.parametrize("name", get_args(KLScheduleName))
def test_every_schedule_ends_at_the_weight(name):
    assert weights(name)[-1] == pytest.approx(0.1)


def test_the_warmup_is_a_part_of_training():
    assert weights("linear")[1] == pytest.approx(0.05)
    assert weights("linear", warmup=0.25)[1] == pytest.approx(0.1)
    assert weights("constant")[0] == pytest.approx(0.1)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="`kl_weight` multiplies KL / N and must be at least 0"):
        make_kl_schedule("linear", -1.0)
    with pytest.raises(ValueError, match="`kl_warmup` is an option of the schedules linear and exponential"):
        make_kl_schedule("cyclic", 1.0, 0.5)
