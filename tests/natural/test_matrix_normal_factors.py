"""Natural gradients of factors are those of the Fisher metric, and are quick where Adam is slow."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait
from plait.linalg import cholesky, diagonal
from plait.natural import natural_factors
from plait.natural.matrix_normal_factors import _natural
from plait.posterior import MatrixNormalPosterior
from plait.site import Layout

LAYOUT = Layout.matrix((3, 2), (0,))


def posterior(key, kind="cholesky"):
    keys = jax.random.split(key, 3)
    if kind == "diagonal":
        factors = [
            diagonal.DiagonalFactor(0.3 * jax.random.normal(k, (n,))) for k, n in zip(keys, (3, 2), strict=False)
        ]
    else:
        draws = [jax.random.normal(k, (n, n)) for k, n in zip(keys, (3, 2), strict=False)]
        factors = [cholesky.CholeskyFactor.from_matrix(jnp.linalg.cholesky(d @ d.T + jnp.eye(len(d)))) for d in draws]
    return MatrixNormalPosterior(jax.random.normal(keys[2], (3, 2)), *factors, LAYOUT)


def moved(q, rows, columns):
    """The covariance along A (I + eta), B (I + zeta), vec row by row."""
    a, b = q.rows.matrix() @ (jnp.eye(3) + rows), q.columns.matrix() @ (jnp.eye(2) + columns)
    return jnp.kron(a @ a.T, b @ b.T)


@pytest.mark.parametrize("kind", ["cholesky", "diagonal"])
def test_it_is_the_gradient_in_the_fisher_metric(key, kind):
    q = posterior(key, kind)
    with jax.numpy_rank_promotion("allow"):
        target = jnp.diag(jnp.linspace(0.5, 2, 6)) + 0.1

    def loss(q):
        covariance = jnp.kron(q.rows.covariance(), q.columns.covariance())
        return 0.5 * jnp.trace(jnp.linalg.solve(target, covariance)) - q.log_det()

    rows, columns = _natural(q, eqx.filter_grad(loss)(q))
    # The metric by brute force: 1/2 tr(S^-1 dS S^-1 dS) over all directions that the factors have.
    basis = [(i, j) for i in range(3) for j in range(i + 1)], [(i, j) for i in range(2) for j in range(i + 1)]
    if kind == "diagonal":
        basis = tuple([pair for pair in side if pair[0] == pair[1]] for side in basis)
    directions = np.zeros((len(basis[0]) + len(basis[1]), 13), np.float32)
    for index, at in enumerate(basis[0]):
        directions[index, 3 * at[0] + at[1]] = 1
    for index, at in enumerate(basis[1], len(basis[0])):
        directions[index, 9 + 2 * at[0] + at[1]] = 1

    def covariance(flat):
        return moved(q, flat[:9].reshape(3, 3), flat[9:].reshape(2, 2))

    origin = jnp.zeros(13)
    inverse = jnp.linalg.inv(covariance(origin))
    steps = jax.jit(jax.vmap(lambda d: jax.jvp(covariance, (origin,), (d,))[1]))(jnp.asarray(directions))
    whitened = jnp.einsum("ij,ajk->aik", inverse, steps)
    fisher = 0.5 * jnp.einsum("aij,bji->ab", whitened, whitened)
    gradient = 0.5 * jnp.einsum("aij,ji->a", steps, jnp.linalg.inv(target) - inverse)
    given = [float(value) for value in ([rows[at] if rows.ndim == 2 else rows[at[0]] for at in basis[0]])]
    given += [float(value) for value in ([columns[at] if columns.ndim == 2 else columns[at[0]] for at in basis[1]])]
    np.testing.assert_allclose(np.asarray(fisher @ jnp.asarray(given)), gradient, rtol=2e-3, atol=2e-4)


@pytest.fixture(scope="module")
def problem():
    key = jax.random.key(0)
    x = jax.random.normal(key, (64, 4)) * jnp.asarray([[3.0, 1.0, 0.3, 1.0]])
    y = x @ jax.random.normal(key, (4, 2)) + 0.1 * jax.random.normal(jax.random.key(1), (64, 2))
    model = eqx.nn.Linear(4, 2, use_bias=False, key=key)
    bnn = plait.bayesianize(model, x, posterior=plait.MatrixNormal(), prior=plait.Normal(1.0), key=key)
    return bnn.with_likelihood(plait.Gaussian(0.1)), (x, y)


def test_fit_takes_it(problem):
    bnn, data = problem
    natural = natural_factors(0.2, dataset_size=64, others=optax.adam(1e-2))
    found = plait.fit(bnn, data, optimizer=natural, steps=20, batch_size=64, key=jax.random.key(2))
    losses = found.history["loss"]
    assert losses[-1] < losses[0]
    before, after = (model.posteriors["weight"] for model in (bnn, found.model))
    assert not np.allclose(before.rows.matrix(), after.rows.matrix())
    assert not np.allclose(before.mean, after.mean)


def test_the_best_factors_are_found_in_a_few_steps(key):
    # With the means at theirs, the best factors of this loss are known.
    target, start = posterior(jax.random.key(7)), posterior(key)

    def loss(q):
        ratio = q.rows.covariance() @ jnp.linalg.inv(target.rows.covariance())
        other = q.columns.covariance() @ jnp.linalg.inv(target.columns.covariance())
        return 0.5 * jnp.trace(ratio) * jnp.trace(other) - q.log_det() + target.log_det() - 3

    def final(transformation):
        @jax.jit
        def step(_, carry):
            q, state = carry
            with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
                updates, state = transformation.update(jax.grad(loss)(q), state, q)
            return optax.apply_updates(q, updates), state

        return float(loss(jax.lax.fori_loop(0, 60, step, (start, transformation.init(start)))[0]))

    natural = natural_factors(0.5, dataset_size=1, others=optax.sgd(0.0), momentum=0.0, max_change=0.5)
    assert final(natural) < 1e-3
    assert final(optax.adam(1e-2)) > 1e-2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_rate": 0.0}, "`learning_rate` of natural gradients must lie in"),
        ({"momentum": 1.0}, "`momentum` must lie in"),
        ({"max_change": 0.0}, "`max_change` must be positive"),
        ({"dataset_size": 0}, "`dataset_size` is the number of training examples"),
    ],
)
def test_wrong_options_are_refused(options, message):
    given = {"learning_rate": 0.1, "dataset_size": 10, "others": optax.sgd(0.1)} | options
    with pytest.raises(ValueError, match=message):
        natural_factors(given.pop("learning_rate"), **given)


def test_a_model_without_matrix_normals_is_refused(problem):
    bnn, (x, _) = problem
    plain = plait.bayesianize(bnn.mean(), x, posterior=plait.MeanField(), key=jax.random.key(0))
    transformation = natural_factors(0.1, dataset_size=10, others=optax.sgd(0.1))
    with pytest.raises(ValueError, match="no weight has a matrix normal"):
        transformation.init(plain)
    with pytest.raises(ValueError, match="depend on the parameters"):
        transformation.update(bnn, transformation.init(bnn))
