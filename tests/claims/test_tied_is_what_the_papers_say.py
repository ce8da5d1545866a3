"""Papers 000 and 001: what the k-tied Normal is, and is not."""

import functools
import itertools

import equinox as eqx
import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.linalg.diagonal import DiagonalFactor
from plait.linalg.sum_log_outer import direct_sum_log_outer, sum_log_outer
from plait.posterior import MatrixNormalPosterior, MeanFieldPosterior, TiedPosterior
from plait.site import Layout

LAYOUT = Layout.matrix((4, 3), [0])


def tied(key: jax.Array, rank: int, layout: Layout = LAYOUT) -> TiedPosterior:
    mean, rows, columns = jax.random.split(key, 3)
    return TiedPosterior(
        jax.random.normal(mean, layout.shape),
        0.5 * jax.random.normal(rows, (rank, layout.fan_in)),
        0.5 * jax.random.normal(columns, (rank, layout.fan_out)),
        layout,
    )


def test_rank_one_is_the_diagonal_matrix_normal(key: jax.Array):
    one = tied(key, 1)
    kronecker = MatrixNormalPosterior(
        one.mean, DiagonalFactor(one.row_log_scale[0]), DiagonalFactor(one.column_log_scale[0]), LAYOUT
    )
    weight = one.sample(key)
    np.testing.assert_allclose(one.covariance(), kronecker.covariance(), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(one.log_prob(weight), kronecker.log_prob(weight), rtol=1e-5)
    np.testing.assert_allclose(one.entropy(), kronecker.entropy(), rtol=1e-5)


def test_full_rank_reproduces_any_mean_field(key: jax.Array):
    # Any positive matrix is a sum of as many positive rank-one matrices as it has columns: one for each column, the
    # others vanishing there.
    rho = jax.random.normal(key, (4, 3))
    columns = jnp.where(jnp.eye(3, dtype=bool), 0.0, -60.0)
    full = TiedPosterior(jnp.zeros((4, 3)), rho.T, columns, LAYOUT)
    field = MeanFieldPosterior(jnp.zeros((4, 3)), rho, LAYOUT)
    np.testing.assert_allclose(full.std, field.std, rtol=1e-6)
    np.testing.assert_allclose(full.entropy(), field.entropy(), rtol=1e-6)


@hypothesis.given(
    hnp.arrays(np.float64, (2, 4), elements=st.floats(-1, 1)), hnp.arrays(np.float64, (2, 3), elements=st.floats(-1, 1))
)
@hypothesis.settings(max_examples=50, deadline=None)
def test_a_diagonal_kronecker_product_has_rank_one_variances(rows: np.ndarray, columns: np.ndarray):
    # The papers' lemma: P (x) Q diagonal forces the variance matrix to have rank one, so a positive matrix of standard
    # deviations of rank two is out of reach of every matrix normal.
    std = np.exp(rows).T @ np.exp(columns)
    variance = std**2
    singular = np.linalg.svd(variance, compute_uv=False)
    reachable = np.outer(variance.sum(1), variance.sum(0)) / variance.sum()
    distance = np.abs(variance - reachable).max()
    hypothesis.assume(singular[1] > 1e-6 * singular[0])
    assert distance > 0


def test_the_initial_standard_deviation_is_the_one_asked_for(key: jax.Array):
    # MATH 1.1 [V4]: exp of noise with std 0.1 on both sides has mean exp(0.01).
    layout = Layout.matrix((300, 200), [0])
    for rank in (1, 2, 3):
        posterior = plait.Tied(rank, 0.01).initialise(jnp.zeros((300, 200)), layout, key=key)
        np.testing.assert_allclose(jnp.mean(posterior.std), 0.01 * np.exp(0.01), rtol=0.03)


@pytest.mark.parametrize("spread", [0.0, 0.3, 2.0, 5.0])
def test_the_linear_cost_entropy_equals_the_direct_sum(spread: float, key: jax.Array):
    rows, columns = (
        spread * jax.random.normal(k, (2, n)) for k, n in zip(jax.random.split(key), (400, 300), strict=True)
    )
    fast, fast_gradient = jax.value_and_grad(sum_log_outer, argnums=(0, 1))(rows, columns)
    slow, slow_gradient = jax.value_and_grad(direct_sum_log_outer, argnums=(0, 1))(rows, columns)
    np.testing.assert_allclose(fast, slow, rtol=2e-6)
    for one, other in zip(fast_gradient, slow_gradient, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * 400)


def test_the_low_rank_variance_equals_the_weight_sized_one(key: jax.Array):
    x = jax.random.normal(key, (5, 4))

    def draw(bnn: plait.BayesianModel, key: jax.Array) -> jax.Array:
        return bnn(x, key=key)

    for rank in (1, 2, 3):
        bnn = plait.bayesianize(jnp.zeros((4, 3)), x, apply=lambda w, x: x @ w, posterior=plait.Tied(rank), key=key)
        posterior = tied(key, rank)
        bnn = eqx.tree_at(lambda b: b.posteriors["weight"], bnn, posterior)
        draws = jax.vmap(functools.partial(draw, bnn))(jax.random.split(key, 4000)) - (x @ posterior.mean)[None]
        expected = jnp.square(x) @ posterior.variance
        error = expected * (2 / 4000) ** 0.5
        assert jnp.all(jnp.abs(jnp.mean(jnp.square(draws), 0) - expected) < 6 * error)


def mlp(*widths: int) -> dict[str, jax.Array]:
    layers = enumerate(itertools.pairwise(widths))
    return {f"{n}{i}": jnp.zeros(s) for i, (a, b) in layers for n, s in (("w", (a, b)), ("b", (b,)))}


def run_mlp(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    count = len(params) // 2
    for i in range(count):
        x = x @ params[f"w{i}"] + params[f"b{i}"][None]
        x = jax.nn.relu(x) if i < count - 1 else x
    return x


@pytest.mark.parametrize(("rank", "count"), [(None, 956_820), (1, 481_614), (2, 484_008), (3, 486_402)])
def test_the_mnist_network_has_the_papers_number_of_parameters(rank: int | None, count: int, key: jax.Array):
    family = plait.MeanField() if rank is None else plait.Tied(rank)
    bnn = plait.bayesianize(mlp(784, 400, 400, 10), jnp.zeros((2, 784)), apply=run_mlp, posterior=family, key=key)
    assert bnn.num_params == count


@pytest.mark.parametrize(("rank", "count"), [(None, 4_405_320), (1, 2_262_188), (2, 2_267_408), (3, 2_272_628)])
def test_the_lenet_has_the_papers_number_of_parameters(rank: int | None, count: int, key: jax.Array):
    # 5x5 SAME convolutions (erratum E14); convolutions stay mean field.
    params = {
        "c0": jnp.zeros((5, 5, 3, 32)), "cb0": jnp.zeros(32), "c1": jnp.zeros((5, 5, 32, 64)), "cb1": jnp.zeros(64),
    } | mlp(4096, 512, 100)  # fmt: skip

    def run(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        for i in range(2):
            x = jax.lax.conv_general_dilated(
                x, params[f"c{i}"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu(x + params[f"cb{i}"][None, None, None])
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return run_mlp({k: v for k, v in params.items() if not k.startswith("c")}, x.reshape(x.shape[0], -1))

    dense = plait.MeanField() if rank is None else plait.Tied(rank)
    families = {"conv": plait.MeanField(), "dense": dense, "bias": plait.MeanField()}
    bnn = plait.bayesianize(params, jnp.zeros((2, 32, 32, 3)), apply=run, posterior=families, key=key)
    assert bnn.num_params == count


@pytest.mark.parametrize(("rank", "count"), [(None, 2_822_785), (1, 2_692_993), (2, 2_694_273), (3, 2_695_553)])
def test_the_lstm_has_the_papers_number_of_parameters(rank: int | None, count: int, key: jax.Array):
    # Only the kernel and the recurrent kernel are Bayesian; the scan sees one draw of each.
    params = {
        "embedding": jnp.zeros((20_000, 128)), "kernel": jnp.zeros((128, 512)), "recurrent": jnp.zeros((128, 512)),
        "bias": jnp.zeros(512), "head": jnp.zeros((128, 1)), "head_bias": jnp.zeros(1),
    }  # fmt: skip

    def run(params: dict[str, jax.Array], tokens: jax.Array) -> jax.Array:
        embedded = params["embedding"][tokens]

        def step(carry, x):
            h, c = carry
            i, f, g, o = jnp.split(x @ params["kernel"] + h @ params["recurrent"] + params["bias"][None], 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        start = jnp.zeros((tokens.shape[0], 128))
        (h, _), _ = jax.lax.scan(step, (start, start), jnp.moveaxis(embedded, 1, 0))
        return h @ params["head"] + params["head_bias"][None]

    recurrent = plait.MeanField() if rank is None else plait.Tied(rank)
    families = {"kernel": recurrent, "recurrent": recurrent}
    bnn = plait.bayesianize(params, jnp.zeros((2, 4), jnp.int32), apply=run, posterior=families, key=key)
    assert bnn.num_params == count
    assert {row.path: row.kind for row in bnn.sites}["kernel"] == "dense"
