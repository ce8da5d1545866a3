from typing import get_args

import pytest

import plait
from plait.recipes.priors import PRIORS, PriorName, make_prior


def test_help_lists_every_name():
    assert set(get_args(PriorName)) == set(PRIORS)


def test_a_scale_reaches_the_prior():
    assert make_prior("normal", 0.3).scale == 0.3
    assert make_prior("learned-normal", 0.3).scale == 0.3
    assert make_prior("scale-mixture", 2.0).wide == 2.0
    assert make_prior("cauchy", 2.0).scale == 2.0
    assert isinstance(make_prior("he-normal"), plait.HeNormal)


@pytest.mark.parametrize("name", ["he-normal", "ard", "group-ard"])
def test_a_scale_where_there_is_none_to_choose_is_refused(name):
    with pytest.raises(ValueError, match=f"`prior_scale` is not for '{name}'"):
        make_prior(name, 0.3)
