from typing import get_args

import jax
import jax.numpy as jnp
import pytest

import plait
from plait.recipes.posteriors import POSTERIORS, PosteriorName, make_posterior
from plait.site import Layout


@pytest.mark.parametrize("name", POSTERIORS)
def test_every_name_makes_a_family_that_can_start(name):
    family = make_posterior(name)
    weight = jnp.ones((3, 2))
    posterior = family.initialise(weight, Layout.matrix((3, 2), {0}, set()), key=jax.random.key(0))
    assert posterior.mean.shape[-2:] == (3, 2)


def test_help_lists_every_name():
    assert set(get_args(PosteriorName)) == set(POSTERIORS)


def test_options_reach_the_family():
    assert make_posterior("tied", rank=3, init_scale=0.1) == plait.Tied(3, 0.1)
    assert make_posterior("rank-1-cauchy", components=2) == plait.RankOne(2, "cauchy")
    assert make_posterior("diagonal-matrix-normal") == plait.MatrixNormal("diagonal", "diagonal")


def test_an_option_of_another_family_is_refused():
    with pytest.raises(ValueError, match="`rank` is an option of the posteriors tied, low-rank, not of 'mean-field'"):
        make_posterior("mean-field", rank=2)
