"""Mean and covariance of a site's output are what the posterior's dense moments say, for every estimator."""

import itertools

import cases
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait

DRAWS = 20_000
SIGMAS = 6.0
"""Each entry may be off by this many of its own standard errors; thousands of entries are checked."""


def pairs() -> list[tuple[str, str, str]]:
    return [
        (family, site, estimator)
        for family, site, estimator in itertools.product(cases.FAMILIES, cases.SITES, cases.ESTIMATORS)
        if is_supported(family, site, estimator)
    ]


FEW = ("dense-out-in", "conv-grouped")


def is_supported(family: str, site: str, estimator: str) -> bool:
    spec, case = cases.FAMILIES[family], cases.SITES[site]
    vector = case.kind in ("bias", "scale")
    if isinstance(spec, plait.Point):
        return estimator == "mean"
    if estimator in ("mean",):
        return family in ("tied-2", "rank-one")
    if isinstance(spec, plait.RankOne):
        return estimator in ("weights", "per_example") and not vector
    if vector:
        return family == "mean-field" and estimator != "per_example"
    match estimator:
        case "weights":
            # One code path for all families, whose draws have a law of their own (test_density).
            return family == "mean-field" or site in FEW
        case "local":
            return _small(spec).local_refusal(2 if case.grouped else 1) is None
        case "flipout":
            # One code path for all families with independent entries.
            return (family == "mean-field" or site in FEW) and _small(spec).independent
        case _:
            return False


def _small(spec: plait.Family) -> plait.Posterior:
    return spec.initialise(jnp.zeros((2, 2)), plait.site.Layout.matrix((2, 2), [0]), key=jax.random.key(0))


def _moments(y: jax.Array) -> tuple[jax.Array, ...]:
    """Mean, covariance, and the standard errors of both, over the first axis."""
    mean = jnp.mean(y, axis=0)
    centred = y - mean[None]
    covariance = centred.T @ centred / y.shape[0]
    fourth = jnp.square(centred).T @ jnp.square(centred) / y.shape[0]
    error = jnp.sqrt(jnp.maximum(fourth - jnp.square(covariance), 0) / y.shape[0])
    return mean, covariance, jnp.std(y, axis=0) / y.shape[0] ** 0.5, error


@pytest.mark.parametrize(("family", "site", "estimator"), pairs())
def test_output_moments_equal_the_dense_oracle(family: str, site: str, estimator: str, key: jax.Array):
    check_output_moments(family, site, estimator, key)


# XLA takes minutes for a grouped convolution with a kernel for each draw in double precision.
DOUBLE = [p for p in pairs() if p[1] in ("dense-out-in", "embedding") or p[1:] == ("conv-grouped", "local")]


@pytest.mark.parametrize(("family", "site", "estimator"), DOUBLE)
def test_output_moments_equal_the_dense_oracle_in_double_precision(
    family: str, site: str, estimator: str, key: jax.Array
):
    with jax.enable_x64(True):
        check_output_moments(family, site, estimator, key)


def check_output_moments(family: str, site: str, estimator: str, key: jax.Array) -> None:
    case = cases.SITES[site]
    build_key, draw_key = jax.random.split(key)
    name = None if isinstance(cases.FAMILIES[family], plait.Point) else estimator
    bnn, x = cases.build(cases.FAMILIES[family], case, build_key, estimator=name)
    posterior = next(iter(bnn.posteriors.values()))
    if posterior.components:
        bnn = bnn.component(0)

    def flat(weight: jax.Array) -> jax.Array:
        return case.columns(case.forward(weight, x)).reshape(-1)

    jacobian = jax.jacobian(flat)(posterior.mean).reshape(-1, posterior.mean.size)
    expected_mean = flat(posterior.mean)
    dense = jacobian @ posterior.covariance() @ jacobian.T
    shape = case.columns(case.forward(posterior.mean, x)).shape
    expected = dense * _same(shape, {"local": 2, "flipout": 1, "per_example": 1, "weights": 0, "mean": 0}[estimator])
    if estimator == "flipout" and case.kind in ("embedding", "bias", "scale"):
        expected = dense * _same(shape, 2)
    if estimator == "flipout" and case.kind == "dense":
        # Dense sites take signs of their own at every place.
        expected = dense * _same(shape, 2)
    if estimator == "mean":
        expected = jnp.zeros_like(dense)

    @eqx.filter_jit
    def moments(bnn: plait.BayesianModel, x: jax.Array, keys: jax.Array) -> tuple[jax.Array, ...]:
        # In batches: XLA makes a convolution with a kernel for each of many draws out of enormous patches.
        return _moments(jax.lax.map(lambda k: case.columns(bnn(x, key=k)).reshape(-1), keys, batch_size=1000))

    mean, covariance, mean_error, error = map(np.asarray, moments(bnn, x, jax.random.split(draw_key, DRAWS)))
    floor = 1e-5 * (1 + np.abs(np.asarray(expected)).max())
    np.testing.assert_array_less(np.abs(mean - expected_mean), SIGMAS * mean_error + floor)
    np.testing.assert_array_less(np.abs(covariance - expected), SIGMAS * error + floor)


def _same(shape: tuple[int, ...], axes: int) -> jax.Array:
    """1 where two entries of [examples, places, columns] agree on the first `axes` axes."""
    index = np.indices(shape).reshape(3, -1)[:axes]
    return jnp.asarray(np.all(index[:, :, None] == index[:, None, :], axis=0), jnp.result_type(float))
