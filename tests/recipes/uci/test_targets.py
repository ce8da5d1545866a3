import math

import pytest

from plait.recipes.uci.protocol import Protocol
from plait.recipes.uci.targets import ONE_LAYER, OTHERS, PAPER, ceiling, is_met


def test_every_set_has_its_numbers():
    for column in (*ONE_LAYER.values(), PAPER[2]["NNG-MVG"], *OTHERS.values()):
        assert set(column) == set(Protocol().sets)


@pytest.mark.parametrize(
    ("name", "std", "size", "expected"),
    [("yacht", 15.14, 277, -2.11), ("energy", 10.08, 691, -1.30), ("boston", 9.19, 455, -2.27)],
)
def test_the_ceiling_explains_the_papers_log_likelihoods(name, std, size, expected):
    assert ceiling(ONE_LAYER["NNG-MVG"][name].rmse.value, std, size) == pytest.approx(expected, abs=0.006)


def test_without_a_prior_the_ceiling_is_the_best_gaussian():
    assert ceiling(0.5, 2.0, 100, 0.0, 0.0) == pytest.approx(-0.5 * math.log(2 * math.pi * 0.25) - 0.5)


def test_a_target_is_met_within_two_errors_of_pbp():
    target = ONE_LAYER["NNG-MVG"]["boston"]
    assert is_met("boston", 2.65, -2.51, target) == (True, True)
    assert is_met("boston", 2.66, -2.52, target) == (False, False)
    assert is_met("naval", 0.0004, 7.2, ONE_LAYER["NNG-MVG"]["naval"]) == (True, True)
