"""Gradients of the stochastic pass and of the KL equal finite differences, in double precision."""

import cases
import equinox as eqx
import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pytest

import plait

ROUTES = [
    (family, site, estimator)
    for family in cases.FAMILIES
    for site, estimator in (("dense-out-in", None), ("conv-2d", None), ("dense", "weights"))
    if not isinstance(cases.FAMILIES[family], plait.Point)
] + [("mean-field", "dense", "flipout"), ("tied-2", "embedding", None), ("mean-field", "bias", None)]


@pytest.mark.parametrize(("family", "site", "estimator"), ROUTES)
def test_gradients_equal_finite_differences(family: str, site: str, estimator: str | None, key: jax.Array):
    check_gradient(family, site, estimator, None, 1e-7, key)


@pytest.mark.parametrize("prior", list(cases.COLLAPSED))
@pytest.mark.parametrize(("family", "site"), [("tied-2", "conv-2d"), ("matrix-normal", "dense-out-in")])
def test_gradients_of_collapsed_priors_equal_finite_differences(family: str, site: str, prior: str, key: jax.Array):
    # Precisions of both sides, that no gradient goes through, are the best ones up to what their iteration leaves.
    check_gradient(family, site, None, cases.COLLAPSED[prior], 1e-3 if prior == "group-ard" else 1e-7, key)


def check_gradient(
    family: str, site: str, estimator: str | None, prior: plait.prior.Prior | None, tolerance: float, key: jax.Array
) -> None:
    with jax.enable_x64(True):
        bnn, x = cases.build(cases.FAMILIES[family], cases.SITES[site], key, estimator=estimator, prior=prior)
        flat, unravel = jax.flatten_util.ravel_pytree(eqx.filter(bnn.posteriors, eqx.is_inexact_array))
        direction = jax.random.normal(key, flat.shape, flat.dtype)

        @jax.jit
        def loss(flat: jax.Array) -> jax.Array:
            moved = eqx.tree_at(lambda b: b.posteriors, bnn, unravel(flat))
            return jnp.sum(jnp.sin(moved(x, key=key))) + 0.1 * moved.kl(key=key)

        step = 1e-5
        numeric = (loss(flat + step * direction) - loss(flat - step * direction)) / (2 * step)
        exact = jax.grad(loss)(flat) @ direction
        np.testing.assert_allclose(exact, numeric, rtol=1e-6, atol=tolerance)
