"""Which estimator can be used with which family."""

import jax
import jax.numpy as jnp
import pytest

import plait
from plait.estimator import ESTIMATORS
from plait.site import Layout

LAYOUT = Layout.matrix((3, 2), [0])
# Estimators that can be used, at a site of one group and at one of two.
POSSIBLE = {
    "point": (plait.Point(), "mean weights local flipout", "mean weights local flipout"),
    "mean-field": (plait.MeanField(), "mean weights local flipout", "mean weights local flipout"),
    "tied": (plait.Tied(2), "mean weights local flipout", "mean weights local flipout"),
    "diagonal matrix normal": (plait.MatrixNormal("diagonal", "diagonal"), *["mean weights local flipout"] * 2),
    "correlated rows": (plait.MatrixNormal("cholesky", "diagonal"), "mean weights local", "mean weights local"),
    "correlated columns": (plait.MatrixNormal("diagonal", "cholesky"), "mean weights local", "mean weights"),
    "plus diagonal": (plait.MatrixNormalPlusDiagonal(), "mean weights local", "mean weights"),
    "low rank": (plait.LowRank(), "mean weights local", "mean weights local"),
    "full": (plait.FullCovariance(), "mean weights", "mean weights"),
    "rank one": (plait.RankOne(2), "mean weights per_example", "mean weights per_example"),
}


@pytest.mark.parametrize(("family", "alone", "grouped"), POSSIBLE.values(), ids=POSSIBLE)
def test_an_estimator_says_what_it_cannot_do(family: plait.Family, alone: str, grouped: str):
    posterior = family.initialise(jnp.ones((3, 2)), LAYOUT, key=jax.random.key(0))
    for groups, expected in ((1, alone), (2, grouped)):
        possible = [name for name, estimator in ESTIMATORS.items() if estimator.refusal(posterior, groups) is None]
        assert possible == expected.split()


@pytest.mark.parametrize("family", [family for family, _, _ in POSSIBLE.values()], ids=POSSIBLE)
def test_the_default_is_one_that_can_be_used(family: plait.Family):
    posterior = family.initialise(jnp.ones((3, 2)), LAYOUT, key=jax.random.key(0))
    assert ESTIMATORS[family.default_estimator].refusal(posterior) is None
