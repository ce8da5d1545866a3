"""A mixture of normals for each entry: the density of scipy; one part is a normal."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import plait
from plait.posterior import MeanFieldPosterior
from plait.site import Layout


def test_the_density_is_scipys(key: jax.Array):
    weight = np.asarray(jax.random.normal(key, (5,)))
    parts = [p * scipy.stats.norm(m, s).pdf(weight) for p, m, s in ((0.7, 1.0, 0.5), (0.3, -1.0, 0.2))]
    prior = plait.NormalMixture((1.0, -1.0), (0.5, 0.2), (0.7, 0.3))
    np.testing.assert_allclose(prior.log_prob(jnp.asarray(weight)), np.log(sum(parts)).sum(), rtol=1e-4, atol=1e-4)


def test_one_part_is_a_normal(key: jax.Array):
    weight = jax.random.normal(key, (3,))
    one, normal = plait.NormalMixture((1.0,), (0.5,)), plait.Normal(0.5, mean=1.0)
    np.testing.assert_allclose(one.log_prob(weight), normal.log_prob(weight), rtol=1e-5)
    assert one.route(MeanFieldPosterior(weight, weight, Layout.vector((3,)))) == "Monte Carlo"


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="an entry for each part, got 2, 1 and 2"):
        plait.NormalMixture((1.0, -1.0), (0.1,))
    with pytest.raises(ValueError, match="must be positive and sum to 1"):
        plait.NormalMixture(weights=(0.5, 0.6))
    with pytest.raises(ValueError, match="`scales` is a standard deviation"):
        plait.NormalMixture(scales=(0.1, 0.0))


def test_a_posterior_without_moments_is_refused(key):
    for prior in (plait.NormalMixture(), plait.ScaleMixture()):
        with pytest.raises(ValueError, match="is infinite: a posterior without moments"):
            plait.bayesianize(
                {"w": jnp.ones((3, 2))},
                jnp.ones((2, 3)),
                apply=lambda p, x: x @ p["w"],
                posterior=plait.RankOne(components=2, family="cauchy"),
                prior=prior,
                key=key,
            )
