"""Low rank plus diagonal: what it needs of a site."""

import cases
import jax
import pytest

import plait
from plait.posterior import LowRankPosterior
from plait.site import Layout
from plait.trace import discover, trace


def test_a_weight_without_a_fan_in_side_is_refused(key: jax.Array):
    case = cases.SITES["bias"]
    x, weight = case.inputs(key), jax.random.normal(key, case.weight)
    program = trace(lambda weights, x: case.forward(weights["w"], x), {"w": weight}, (x,))
    site = discover(program, {"w": weight})[0].site
    posterior = plait.LowRank(2).initialise(weight, Layout.vector(weight.shape), key=key)
    assert isinstance(posterior, LowRankPosterior)
    with pytest.raises(
        TypeError, match=r"needs a weight with a fan-in side, and 'w' is used as a bias; use plait\.MeanField"
    ):
        posterior.output_noise(site, x, key)
    # Asked for a whole model, it gives such weights independent entries.
    bnn, _ = cases.build(plait.LowRank(2), case, key)
    assert bnn.sites[0].posterior == "MeanField"
