"""Where the log-likelihood is quadratic, KL(tied || mean field) is what the negative ELBO of a trained model rises by.

y = W^T x + noise of a standard deviation for each output, W ~ N(0, p^2): the best mean field has
1 / s_ij^2 = sum_n x_ni^2 / noise_j^2 + 1 / p^2, which is no product of a row and a column factor.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.analysis import compress, truncate
from plait.analysis.tie import kl_of_stds

INPUTS, OUTPUTS, PRIOR = 12, 9, 0.7
NOISE = jnp.linspace(0.5, 20.0, OUTPUTS)


def negative_elbo(bnn: plait.BayesianModel, x: jax.Array, y: jax.Array) -> float:
    """In nats, up to a constant: a squared error needs mean and variance of the weights alone."""
    posterior = bnn.posteriors["weight"]
    expected = jnp.sum(jnp.square(y - x @ posterior.mean), 0) + jnp.sum(jnp.square(x) @ posterior.variance, 0)
    return float(jnp.sum(expected / (2 * jnp.square(NOISE))) + bnn.kl())


@pytest.fixture
def problem(key: jax.Array) -> tuple[plait.BayesianModel, jax.Array, jax.Array]:
    """A trained mean field, and its data."""
    x = jax.random.normal(key, (50, INPUTS)) * jnp.linspace(0.1, 3.0, INPUTS)[None]
    mean = jax.random.normal(jax.random.fold_in(key, 1), (INPUTS, OUTPUTS))
    bnn = plait.bayesianize(
        mean, x, apply=lambda w, x: x @ w, posterior=plait.MeanField(), prior=plait.Normal(PRIOR), key=key
    )
    curvature = jnp.sum(jnp.square(x), 0)[:, None] / jnp.square(NOISE)[None] + 1 / PRIOR**2
    best = bnn.posteriors["weight"].with_std(1 / jnp.sqrt(curvature))
    return eqx.tree_at(lambda b: b.posteriors["weight"], bnn, best), x, x @ mean


def test_compressing_costs_the_elbo_what_it_says(problem):
    bnn, x, y = problem
    found = compress(bnn, 1)
    assert found.loss > 1
    rise = negative_elbo(found.model, x, y) - negative_elbo(bnn, x, y)
    assert rise == pytest.approx(found.loss, rel=0.01)


def test_so_does_truncating(problem):
    bnn, x, y = problem
    cut = truncate(bnn, 1)
    loss = kl_of_stds(*(np.log(np.asarray(model.posteriors["weight"].std, np.float64)) for model in (cut, bnn)))
    assert negative_elbo(cut, x, y) - negative_elbo(bnn, x, y) == pytest.approx(loss, rel=0.01)
    assert compress(bnn, 1).loss < loss
