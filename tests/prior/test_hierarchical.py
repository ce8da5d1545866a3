"""A variance with an inverse-Gamma hyperprior, at its most probable value."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import scipy.stats

import plait
from plait.posterior import CauchyPosterior, MeanFieldPosterior
from plait.site import Layout

LAYOUT = Layout.vector((4,))
Q = MeanFieldPosterior(jnp.array([1.2, 0.7, 1.0, 0.4]), jnp.array([-1.0, -2.0, -1.5, -3.0]), LAYOUT)


@pytest.mark.parametrize("mean", [1.0, "posterior"])
def test_the_kl_is_least_at_the_variance_it_takes(mean: Any):
    prior = plait.HierarchicalNormal(mean)

    def objective(variance: float) -> float:
        fixed = plait.Normal(variance**0.5, mean=Q.mean if mean == "posterior" else mean)
        hyper = scipy.stats.invgamma(prior.shape, scale=prior.rate).logpdf(variance)
        return float(fixed.kl(Q, key=None)) - hyper

    best = scipy.optimize.minimize_scalar(objective, bounds=(1e-3, 1), method="bounded", options={"xatol": 1e-6})
    np.testing.assert_allclose(prior.best_variance(Q), best.x, rtol=1e-2)
    np.testing.assert_allclose(prior.kl(Q, key=None), best.fun, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(prior.fitted(Q).scale, prior.best_variance(Q) ** 0.5, rtol=1e-6)


def test_no_gradient_goes_through_the_best_variance():
    prior = plait.HierarchicalNormal(1.0)
    fixed = prior.fitted(Q)
    ours, theirs = (jax.grad(lambda q, p=p: p.kl(q, key=None))(Q) for p in (prior, fixed))
    np.testing.assert_allclose(ours.mean, theirs.mean, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(ours.unconstrained, theirs.unconstrained, rtol=1e-3, atol=1e-5)


def test_tied_means_pay_for_the_spread_alone():
    moved = MeanFieldPosterior(Q.mean + 5, Q.unconstrained, LAYOUT)
    tied, free = plait.HierarchicalNormal("posterior"), plait.HierarchicalNormal(1.0)
    assert tied.kl(moved, key=None) == tied.kl(Q, key=None)
    assert free.kl(moved, key=None) > free.kl(Q, key=None)


@pytest.mark.usefixtures("unchecked")
def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="`mean` must be a number or 'posterior', got 'weights'"):
        plait.HierarchicalNormal("weights")
    with pytest.raises(ValueError, match="`rate` must be positive and finite, got 0"):
        plait.HierarchicalNormal(rate=0)
    with pytest.raises(ValueError, match="no density before the variance of 4 entries is fitted"):
        plait.HierarchicalNormal().log_prob(Q.mean)
    with pytest.raises(ValueError, match="without moments"):
        plait.HierarchicalNormal().check(CauchyPosterior(Q.mean, Q.mean, LAYOUT))
