"""Bayesian linear regression (MATH 4.6): the ELBO reaches the evidence iff the family contains the posterior.

y_i = W^T x_i + noise of precision beta, W ~ N(0, 1/alpha): the posterior is MN(M, U, I) with
U = (beta X^T X + alpha I)^-1 over rows and M = beta U X^T Y. Its evidence is Gaussian.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait

INPUTS, OUTPUTS, DATA = 4, 2, 30
ALPHA, BETA = 2.0, 4.0


def problem(key: jax.Array) -> tuple[jax.Array, jax.Array]:
    x_key, mix_key, w_key, noise_key = jax.random.split(key, 4)
    # Correlated inputs, so that a factorised posterior is visibly worse.
    x = jax.random.normal(x_key, (DATA, INPUTS)) @ (
        jnp.eye(INPUTS) + 0.7 * jax.random.normal(mix_key, (INPUTS, INPUTS))
    )
    weight = jax.random.normal(w_key, (INPUTS, OUTPUTS)) / ALPHA**0.5
    return x, x @ weight + jax.random.normal(noise_key, (DATA, OUTPUTS)) / BETA**0.5


def log_evidence(x: jax.Array, y: jax.Array) -> float:
    covariance = x @ x.T / ALPHA + jnp.eye(DATA) / BETA
    one = lambda column: jax.scipy.stats.multivariate_normal.logpdf(column, jnp.zeros(DATA), covariance)  # noqa: E731
    return float(sum(one(y[:, j]) for j in range(OUTPUTS)))


def exact_elbo(bnn: plait.BayesianModel, x: jax.Array, y: jax.Array) -> jax.Array:
    """E_q[log p(y | x, W)] - KL, the expectation in closed form from the posterior's variance along each input."""
    posterior = bnn.posteriors["weight"]
    covariance = posterior.covariance().reshape(INPUTS, OUTPUTS, INPUTS, OUTPUTS)
    variance = jnp.einsum("ni,iojo,nj->", x, covariance, x)
    residual = jnp.sum(jnp.square(y - x @ posterior.mean)) + variance
    likelihood = 0.5 * y.size * jnp.log(BETA / (2 * jnp.pi)) - 0.5 * BETA * residual
    return likelihood - bnn.kl()


def best_elbo(family: plait.Family, x: jax.Array, y: jax.Array, key: jax.Array) -> float:
    bnn = plait.bayesianize(
        jnp.zeros((INPUTS, OUTPUTS)), x, apply=lambda w, x: x @ w, posterior=family,
        prior=plait.Normal(ALPHA**-0.5), key=key,
    )  # fmt: skip
    optimizer = optax.adam(optax.cosine_decay_schedule(0.03, 4000))

    @eqx.filter_jit
    def train(bnn: plait.BayesianModel) -> plait.BayesianModel:
        arrays, static = eqx.partition(bnn, eqx.is_inexact_array)

        def step(carry, _):
            arrays, state = carry
            gradient = jax.grad(lambda a: -exact_elbo(eqx.combine(a, static), x, y))(arrays)
            with jax.numpy_dtype_promotion("standard"):
                updates, state = optimizer.update(gradient, state)
            return (optax.apply_updates(arrays, updates), state), None

        (arrays, _), _ = jax.lax.scan(step, (arrays, optimizer.init(arrays)), None, length=4000)
        return eqx.combine(arrays, static)

    return float(exact_elbo(train(bnn), x, y))


@pytest.mark.parametrize(
    "family",
    [
        plait.MatrixNormal("cholesky", "diagonal", 0.1),
        plait.MatrixNormal("cholesky", "cholesky", 0.1),
        plait.FullCovariance(0.1),
    ],
    ids=lambda f: f.describe(),
)
def test_a_family_that_contains_the_posterior_reaches_the_evidence(family: plait.Family, key: jax.Array):
    with jax.enable_x64(True):
        x, y = problem(key)
        evidence, elbo = log_evidence(x, y), best_elbo(family, x, y, key)
        assert elbo <= evidence + 1e-8
        assert evidence - elbo < 1e-3 * DATA


def factorised_optimum(x: jax.Array, y: jax.Array) -> float:
    """The best factorised Gaussian has the exact mean and the inverse of the diagonal of the precision."""
    precision = BETA * x.T @ x + ALPHA * jnp.eye(INPUTS)
    # KL(q* || posterior) = 1/2 [sum log P_ii - log det P] for each output.
    gap = 0.5 * OUTPUTS * (jnp.sum(jnp.log(jnp.diagonal(precision))) - jnp.linalg.slogdet(precision)[1])
    return log_evidence(x, y) - float(gap)


@pytest.mark.parametrize(
    "family", [plait.MeanField(0.1), plait.Tied(1, 0.1), plait.Tied(2, 0.1)], ids=lambda f: f.describe()
)
def test_a_factorised_family_stays_below_and_reaches_the_best_factorised_value(family: plait.Family, key: jax.Array):
    # The optimal variances are the same for every output, so rank one already contains them.
    with jax.enable_x64(True):
        x, y = problem(key)
        elbo = best_elbo(family, x, y, key)
        best = factorised_optimum(x, y)
        assert best < log_evidence(x, y) - 1e-3
        np.testing.assert_allclose(elbo, best, atol=1e-3)
