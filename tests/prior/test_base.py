"""What priors refuse, and the routes to their KL."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import pytest

import plait
from plait.prior import Prior
from plait.site import Layout

LAYOUT = Layout.matrix((3, 2), [0])
WEIGHT = jnp.ones((3, 2))

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "scale": (lambda: plait.Normal(0.0), "Normal: `scale` is a standard deviation and must be positive, got 0.0"),
    "learned scale": (lambda: plait.LearnedNormal(-1.0), "LearnedNormal: `scale` is a standard deviation"),
    "heavy tails": (
        lambda: plait.Cauchy(-1.0),
        "Cauchy: `scale` is a standard deviation and must be positive, got -1.0",
    ),
    "wide": (lambda: plait.ScaleMixture(wide=0.0), "ScaleMixture: `wide` is a standard deviation"),
    "narrow": (lambda: plait.ScaleMixture(narrow=0.0), "ScaleMixture: `narrow` is a standard deviation"),
    "share": (lambda: plait.ScaleMixture(weight=1.0), r"`weight` must lie in \(0, 1\), got 1.0"),
    "text for a mean": (
        lambda: plait.Normal(1.0, mean="weight").bind(WEIGHT, LAYOUT),
        "`mean` must be a number, an array or 'weights', got 'weight'",
    ),
    "mean": (
        lambda: plait.Normal(1.0, mean=jnp.ones(3)).bind(WEIGHT, LAYOUT),
        r"prior mean of shape \(3,\) does not fit a weight of shape \(3, 2\); give a number or an array",
    ),
    "He unbound": (lambda: plait.HeNormal().log_prob(WEIGHT), r"no density before it is bound .*`prior\.bind\(weight"),
    "learned unbound": (lambda: plait.LearnedNormal().log_prob(WEIGHT), r"no scale before it is bound .*`prior\.bind"),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("build", "says"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused(build: Callable[[], Any], says: str):
    with pytest.raises(ValueError, match=says):
        build()


def test_a_prior_must_have_a_density():
    class Silent(Prior):
        pass

    with pytest.raises(TypeError, match="log_prob"):
        Silent()
