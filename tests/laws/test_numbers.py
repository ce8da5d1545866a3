"""Values and gradients stay finite where they can, and half precision computes with single-precision parameters."""

import cases
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait

MATRIX = ["dense-out-in", "conv-2d"]


def loss_and_gradient(bnn: plait.BayesianModel, x: jax.Array, key: jax.Array):
    @eqx.filter_jit
    def run(bnn: plait.BayesianModel, x: jax.Array, key: jax.Array):
        return eqx.filter_value_and_grad(lambda b: jnp.sum(b(x, key=key)) + b.kl(key=key))(bnn)

    return run(bnn, x, key)


def assert_finite(value: jax.Array, gradient: plait.BayesianModel) -> None:
    assert jnp.isfinite(value)
    for leaf in jax.tree.leaves(eqx.filter(gradient, eqx.is_inexact_array)):
        assert jnp.all(jnp.isfinite(leaf))


@pytest.mark.parametrize("family", list(cases.FAMILIES))
@pytest.mark.parametrize("site", MATRIX)
def test_zero_inputs_and_zero_means_give_no_nan(family: str, site: str, key: jax.Array):
    bnn, x = cases.build(cases.FAMILIES[family], cases.SITES[site], key)
    posterior = bnn.posteriors["w"]
    name = "kernel" if hasattr(posterior, "kernel") else "kronecker" if hasattr(posterior, "kronecker") else "mean"
    where = (
        (lambda b: b.posteriors["w"].kronecker.mean)
        if name == "kronecker"
        else lambda b: getattr(b.posteriors["w"], name)
    )
    zero = eqx.tree_at(where, bnn, jnp.zeros_like(where(bnn)))
    assert_finite(*loss_and_gradient(zero, jnp.zeros_like(x), key))


@pytest.mark.parametrize("scale", [1e-6, 1e3])
@pytest.mark.parametrize("family", [n for n, f in cases.FAMILIES.items() if hasattr(f, "init_scale")])
def test_very_small_and_large_standard_deviations_give_no_nan(family: str, scale: float, key: jax.Array):
    import dataclasses

    spec = dataclasses.replace(cases.FAMILIES[family], init_scale=scale)
    case = cases.SITES["dense-out-in"]
    weight = jax.random.normal(key, case.weight)
    x = case.inputs(key)
    bnn = plait.bayesianize(weight, x, apply=case.forward, posterior=spec, key=key)
    assert_finite(*loss_and_gradient(bnn, x, key))
    np.testing.assert_allclose(jnp.sqrt(jnp.mean(next(iter(bnn.posteriors.values())).variance)), scale, rtol=0.25)


@pytest.mark.parametrize("family", list(cases.FAMILIES))
@pytest.mark.parametrize("site", MATRIX)
def test_half_precision_compute_keeps_single_precision_parameters(family: str, site: str, key: jax.Array):
    case = cases.SITES[site]
    full, x = cases.build(cases.FAMILIES[family], case, key)
    weight = full.draw_weights(None)["w"]

    def forward(w: jax.Array, x: jax.Array) -> jax.Array:
        return case.forward(w.astype(jnp.bfloat16), x.astype(jnp.bfloat16))

    half = plait.bayesianize(
        {"w": weight}, x, apply=lambda p, x: forward(p["w"], x), posterior=cases.FAMILIES[family], key=key
    )
    half = eqx.tree_at(lambda b: b.posteriors, half, full.posteriors)
    assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(half.posteriors))
    keys = jax.random.split(key, 2000)
    spread = [
        np.asarray(
            eqx.filter_jit(lambda b, k: jnp.std(jax.vmap(lambda k: b(x, key=k))(k).astype(jnp.float32), axis=0))(
                b, keys
            )
        )
        for b in (full, half)
    ]
    assert half(x, key=key).dtype == jnp.bfloat16
    np.testing.assert_allclose(spread[1], spread[0], rtol=0.2, atol=0.02)
