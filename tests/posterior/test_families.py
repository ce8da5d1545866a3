"""What the constructors of families refuse: what was expected, what came."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import plait
from plait.site import Layout

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "no spread": (lambda: plait.MeanField(0.0), "`init_scale` is a standard deviation .* positive number, got 0.0"),
    "infinite spread": (lambda: plait.Tied(2, float("inf")), "`init_scale` is a standard deviation .* got inf"),
    "text for a spread": (lambda: plait.FullCovariance("0.1"), "`init_scale` is a standard deviation .* got '0.1'"),
    "transform": (lambda: plait.MeanField(transform="log"), "`transform` must be 'exp' or 'softplus', got 'log'"),
    "rank zero of a tie": (lambda: plait.Tied(0), "`rank` must be a positive integer, got 0"),
    "half a rank": (lambda: plait.Tied(1.5), "`rank` must be a positive integer, got 1.5"),
    "low rank zero": (lambda: plait.LowRank(0), "`rank` must be a positive integer, got 0"),
    "row factor": (lambda: plait.MatrixNormal(rows="full"), "`rows` must be one of 'diagonal', .*, got 'full'"),
    "column factor": (
        lambda: plait.MatrixNormal(columns="full"),
        "`columns` must be one of .*'householder', got 'full'",
    ),
    "diagonal": (lambda: plait.MatrixNormalPlusDiagonal(diagonal="half"), "must be 'full' or 'product', got 'half'"),
    "bound": (lambda: plait.MatrixNormalPlusDiagonal(bound="best"), "`bound` must be 'entries', .*, got 'best'"),
    "components": (lambda: plait.RankOne(0), "`components` must be a positive integer, got 0"),
    "kind of factor": (
        lambda: plait.RankOne(family="laplace"),
        "`family` must be one of 'normal', 'cauchy', 'lognormal', 'point', 'dropout', got 'laplace'",
    ),
    "probability of a sign": (lambda: plait.RankOne(random_sign_init=2), "the probability of .1, at most 1, got 2"),
    "signs of positive factors": (
        lambda: plait.RankOne(family="lognormal", random_sign_init=0.5),
        "are positive and have no random signs",
    ),
    "sides": (lambda: plait.RankOne(sides="left"), "`sides` must be one of 'both', 'rows', 'columns', got 'left'"),
    "reduction": (lambda: plait.RankOne(kl_reduction="max"), "`kl_reduction` must be one of 'mean', 'sum', got 'max'"),
    "dropout rate": (lambda: plait.RankOne(dropout_rate=1.0), r"`dropout_rate` must lie in \(0, 1\), got 1.0"),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("build", "says"), REFUSED.values(), ids=REFUSED)
def test_an_option_that_makes_no_sense_is_refused(build: Callable[[], Any], says: str):
    with pytest.raises(ValueError, match=says):
        build()


def test_a_family_must_say_how_it_starts():
    class Silent(plait.Family):
        pass

    with pytest.raises(TypeError, match=r"abstract method '?initialise"):
        Silent()


def test_a_dense_covariance_over_many_entries_is_taken_for_a_mistake():
    weight = jnp.zeros((200, 101))
    with pytest.raises(ValueError, match=r"over 20,200 entries stores 204,030,100 numbers.*at most 20,000.* Use Tied"):
        plait.FullCovariance().initialise(weight, Layout.matrix(weight.shape, [0]), key=jax.random.key(0))
