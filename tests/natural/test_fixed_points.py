"""Where the methods come to rest: closed forms of a linear layer, and the optimum of gradient training."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait
from plait.likelihood import Bernoulli, Gaussian

INPUTS, OUTPUTS, DATA = 3, 2, 30
NOISE, WIDTH = 0.5, 0.7
STEPS = 400


def linear(
    key: jax.Array, mixing: float = 0.7
) -> tuple[plait.BayesianModel, tuple[jax.Array, jax.Array], np.ndarray, np.ndarray]:
    """One layer without bias, data, and mean and covariance of the posterior of a column of the weight.

    Inputs are the more correlated the larger `mixing` is.
    """
    keys = jax.random.split(key, 4)
    x = jax.random.normal(keys[0], (DATA, INPUTS), float) @ (
        jnp.eye(INPUTS) + mixing * jax.random.normal(keys[1], (INPUTS, INPUTS), float)
    )
    y = x @ jax.random.normal(keys[2], (INPUTS, OUTPUTS), float) + NOISE * jax.random.normal(keys[3], (DATA, 2), float)
    bnn = plait.bayesianize(
        {"w": jnp.zeros((INPUTS, OUTPUTS), float)},
        x,
        apply=lambda w, x: x @ w["w"],
        posterior=plait.MeanField(0.3),
        prior=plait.Normal(WIDTH),
        key=key,
    )
    covariance = np.linalg.inv(np.asarray(x.T @ x) / NOISE**2 + np.eye(INPUTS) / WIDTH**2)
    return bnn, (x, y), covariance @ np.asarray(x.T @ y) / NOISE**2, covariance


def run(method: Any, bnn: Any, batch: Any, likelihood: Any, key: jax.Array, steps: int = STEPS) -> Any:
    """Full batches in one program."""
    bnn = (method.prepare(bnn) if hasattr(method, "prepare") else bnn).with_likelihood(likelihood)
    arrays, static = eqx.partition(bnn, eqx.is_array)
    options = {"likelihood": likelihood, "dataset_size": len(batch[1])}

    @jax.jit
    def train(arrays: Any, state: Any) -> Any:
        def step(carry: Any, key: jax.Array) -> Any:
            bnn, state, _ = method.step(eqx.combine(carry[0], static), carry[1], batch, key=key, **options)
            return (eqx.filter(bnn, eqx.is_array), state), None

        return jax.lax.scan(step, (arrays, state), jax.random.split(key, steps))[0][0]

    return eqx.combine(train(arrays, method.init(bnn)), static)


# Steps that shrink as 1 / t average the noise of the draws away.
AVERAGE = {"learning_rate": lambda count: 1 / (count + 1.0), "momentum": 0.0, "curvature_rate": 1.0, "fisher": "exact"}
EXACT = {
    "kfac": plait.NoisyKFAC(sampler="exact", statistics_every=1, inverse_every=1, **AVERAGE),
    "ekfac": plait.NoisyEKFAC(statistics_every=1, inverse_every=2, **AVERAGE),
    "full": plait.NoisyFull(**AVERAGE),
}


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", EXACT)
def test_a_linear_layer_reaches_the_closed_form_posterior(name: str, key: jax.Array):
    bnn, batch, mean, covariance = linear(key)
    trained = run(EXACT[name], bnn, batch, Gaussian(NOISE), key)
    (joint,) = trained.joints
    # Row by row of the weight: columns are independent.
    np.testing.assert_allclose(joint.covariance(), np.kron(covariance, np.eye(OUTPUTS)), rtol=1e-8, atol=1e-10)
    error = np.sqrt(np.diagonal(covariance) / STEPS)
    np.testing.assert_array_less(np.abs(joint.means["w"] - mean).max(axis=1), 6 * error)


def test_the_damped_sampler_is_narrower_and_has_the_same_mean(key: jax.Array):
    bnn, batch, mean, covariance = linear(key)
    method = plait.NoisyKFAC(
        statistics_every=1, inverse_every=1, learning_rate=lambda count: 3 / (count + 3.0), momentum=0.0,
        curvature_rate=1.0, fisher="exact", num_samples=4,
    )  # fmt: skip
    (joint,) = run(method, bnn, batch, Gaussian(NOISE), key, 2000).joints
    assert np.linalg.eigvalsh(np.kron(covariance, np.eye(OUTPUTS)) - joint.covariance()).min() > 0
    np.testing.assert_allclose(joint.means["w"], mean, atol=6 * np.sqrt(covariance.max() * 3 / 8000))


def test_a_diagonal_method_has_the_diagonal_of_the_precision(key: jax.Array):
    # Steps divided by the diagonal are slow, and average little, where inputs are nearly collinear.
    bnn, batch, mean, covariance = linear(key, mixing=0.2)
    method = plait.NoisyAdam(
        statistics_every=1, learning_rate=lambda count: 10 / (count + 50.0), momentum=0.0,
        curvature_rate=1.0, fisher="exact", num_samples=4,
    )  # fmt: skip
    trained = run(method, bnn, batch, Gaussian(NOISE), key, 2000)
    precision = np.diagonal(np.linalg.inv(covariance))
    np.testing.assert_allclose(1 / trained.posteriors["w"].variance, np.stack([precision] * 2, axis=1), rtol=1e-8)
    np.testing.assert_allclose(trained.posteriors["w"].mean, mean, atol=0.1)


def logistic(key: jax.Array) -> tuple[Any, Any]:
    x_key, y_key = jax.random.split(key)
    x = jax.random.normal(x_key, (60, 3), float)
    y = jax.random.bernoulli(y_key, jax.nn.sigmoid(x @ jnp.asarray([[1.0], [-2.0], [0.0]]))).astype(float)
    bnn = plait.bayesianize(
        {"w": jnp.zeros((3, 1), float)},
        x,
        apply=lambda w, x: x @ w["w"],
        posterior=plait.MeanField(0.3),
        prior=plait.Normal(1.0),
        estimator="weights",
        key=key,
    )
    return bnn, (x, y)


DECAY = optax.exponential_decay(0.05, 1000, 0.2)
DIAGONAL = {
    # The Fisher matrix of a canonical link is the Hessian: the fixed points are the same.
    "adam": plait.NoisyAdam(
        statistics_every=1, learning_rate=DECAY, curvature_rate=DECAY, fisher="exact", num_samples=4
    ),
    "adam-root": plait.NoisyAdam(
        statistics_every=1, learning_rate=DECAY, curvature_rate=DECAY, fisher="exact", num_samples=4, root=True
    ),
    "ivon": plait.IVON(learning_rate=DECAY, curvature_rate=DECAY, num_samples=8),
}


@pytest.mark.parametrize("name", DIAGONAL)
def test_fixed_points_are_those_of_gradient_training(name: str, key: jax.Array):
    bnn, batch = logistic(key)
    natural = run(DIAGONAL[name], bnn, batch, Bernoulli(), key, 2500).posteriors["w"]
    gradient = plait.Gradient(optax.adam(DECAY), num_samples=8)
    trained = run(gradient, bnn, batch, Bernoulli(), key, 2500).posteriors["w"]
    np.testing.assert_allclose(natural.std, trained.std, rtol=0.06)
    np.testing.assert_allclose(natural.mean, trained.mean, atol=0.15 * float(trained.std.max()))
