"""Draws, density, entropy and KL agree with the dense Gaussian, in single and in double precision."""

import cases
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait

GAUSSIAN = [n for n, f in cases.FAMILIES.items() if not isinstance(f, plait.Point | plait.RankOne)]
RANDOM = [n for n, f in cases.FAMILIES.items() if not isinstance(f, plait.Point)]
DRAWS = 20_000


@pytest.fixture(params=[False, True], ids=["x32", "x64"], autouse=True)
def x64(request: pytest.FixtureRequest):
    with jax.enable_x64(request.param):
        yield request.param


def posterior(family: str, key: jax.Array) -> plait.Posterior:
    bnn, _ = cases.build(cases.FAMILIES[family], cases.SITES["dense-out-in"], key)
    value = bnn.posteriors["w"]
    return value.component(0) if value.components else value


def dense_kl(mean: jax.Array, covariance: jax.Array, prior_mean: float, prior_std: float) -> float:
    size = mean.size
    gap = mean.reshape(-1) - prior_mean
    quadratic = (jnp.trace(covariance) + gap @ gap) / prior_std**2
    return 0.5 * (quadratic - size + 2 * size * np.log(prior_std) - jnp.linalg.slogdet(covariance)[1])


@pytest.mark.parametrize("family", RANDOM)
def test_draws_have_the_stated_mean_and_covariance(family: str, key: jax.Array):
    build_key, draw_key = jax.random.split(key)
    value = posterior(family, build_key)
    draws = jax.jit(lambda v, k: jax.vmap(lambda k: v.sample(k).reshape(-1))(k))(
        value, jax.random.split(draw_key, DRAWS)
    )
    centred = np.asarray(draws - draws.mean(0)[None])
    np.testing.assert_allclose(value.variance.reshape(-1), jnp.diagonal(value.covariance()), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(value.total_variance(), jnp.sum(value.variance), rtol=1e-5)
    mean_error = 6 * np.std(centred, axis=0) / DRAWS**0.5 + 1e-6
    np.testing.assert_array_less(np.abs(draws.mean(0) - value.mean.reshape(-1)), mean_error)
    covariance = centred.T @ centred / DRAWS
    error = np.sqrt(((centred**2).T @ centred**2 / DRAWS - covariance**2).clip(0) / DRAWS)
    np.testing.assert_array_less(np.abs(covariance - value.covariance()), 6 * error + 1e-5)


def round_off(covariance: jax.Array) -> float:
    """What the dense oracle itself loses: its condition number times the precision."""
    return 20 * float(jnp.linalg.cond(covariance)) * float(jnp.finfo(covariance.dtype).eps)


@pytest.mark.parametrize("family", GAUSSIAN)
def test_the_density_is_that_of_the_dense_gaussian(family: str, key: jax.Array):
    value = posterior(family, key)
    weight = value.sample(key)
    dense = jax.scipy.stats.multivariate_normal.logpdf(weight.reshape(-1), value.mean.reshape(-1), value.covariance())
    np.testing.assert_allclose(value.log_prob(weight), dense, rtol=1e-6, atol=round_off(value.covariance()))


@pytest.mark.parametrize("family", GAUSSIAN)
def test_the_entropy_is_exact_or_a_lower_bound(family: str, key: jax.Array):
    value = posterior(family, key)
    size = value.mean.size
    dense = 0.5 * jnp.linalg.slogdet(value.covariance())[1] + 0.5 * size * (np.log(2 * np.pi) + 1)
    if value.entropy_is == "exact":
        np.testing.assert_allclose(value.entropy(), dense, rtol=1e-6, atol=round_off(value.covariance()))
    else:
        assert value.entropy() <= dense + 1e-4
        # No bound is worse than either term alone.
        assert value.entropy() >= value.kronecker.entropy() - 1e-4


@pytest.mark.parametrize("family", GAUSSIAN)
def test_the_kl_to_a_normal_prior_is_the_dense_one(family: str, key: jax.Array):
    value = posterior(family, key)
    kl = plait.Normal(0.7, mean=0.2).kl(value, key=None)
    dense = dense_kl(value.mean, value.covariance(), 0.2, 0.7)
    if value.entropy_is == "exact":
        np.testing.assert_allclose(kl, dense, rtol=1e-6, atol=round_off(value.covariance()))
    else:
        assert kl >= dense - 1e-4


CLOSED, MIXTURE, HEAVY = plait.Normal(0.7, mean=0.2), plait.ScaleMixture(1.0, 0.1), plait.Cauchy(0.5)


@pytest.mark.parametrize(
    ("family", "prior"),
    [(family, CLOSED) for family in GAUSSIAN]
    # Without a closed form there is one code path for all families.
    + [(family, prior) for family in ("tied-2", "matrix-normal") for prior in (MIXTURE, HEAVY)],
)
def test_the_kl_agrees_with_monte_carlo(family: str, prior: plait.prior.Prior, key: jax.Array):
    check_monte_carlo(posterior(family, key), prior, prior, key)


@pytest.mark.parametrize("family", ["mean-field", "matrix-normal", "matrix-normal-plus-diagonal", "low-rank"])
@pytest.mark.parametrize("prior", list(cases.COLLAPSED))
def test_a_collapsed_kl_agrees_with_monte_carlo_under_the_fitted_prior(family: str, prior: str, key: jax.Array):
    value = posterior(family, key)
    bound = cases.COLLAPSED[prior].bind(value.mean, value.layout)
    check_monte_carlo(value, bound, bound.fitted(value), key)


def check_monte_carlo(
    value: plait.Posterior, prior: plait.prior.Prior, density: plait.prior.Prior, key: jax.Array
) -> None:
    keys = jax.random.split(key, 4_000)

    @jax.jit
    def log_ratios(value: plait.Posterior, keys: jax.Array) -> jax.Array:
        def one(k: jax.Array) -> jax.Array:
            weight = value.sample(k)
            return value.log_prob(weight) - density.log_prob(weight)

        return jax.vmap(one)(keys)

    ratios = np.asarray(log_ratios(value, keys))
    if prior.route(value) == "Monte Carlo":
        estimates = np.asarray(jax.jit(jax.vmap(lambda k: prior.kl(value, key=k)))(keys[::-1]))
        kl, error = estimates.mean(), np.hypot(estimates.std(), ratios.std()) / len(keys) ** 0.5
    else:
        kl, error = prior.kl(value, key=None), ratios.std() / len(keys) ** 0.5
    if value.entropy_is == "exact":
        assert abs(kl - ratios.mean()) < 6 * error + 1e-4
    else:
        assert kl >= ratios.mean() - 6 * error


@pytest.mark.parametrize("family", GAUSSIAN)
def test_a_tree_round_trip_keeps_the_distribution(family: str, key: jax.Array):
    value = posterior(family, key)
    leaves, structure = jax.tree.flatten(value)
    again = jax.tree.unflatten(structure, leaves)
    assert jnp.array_equal(again.sample(key), value.sample(key))
    assert value.num_params == sum(leaf.size for leaf in leaves)
