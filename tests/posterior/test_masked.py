"""A masked weight: moments, draws and noise of what is left, the KL of the whole."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.posterior import MaskedPosterior
from plait.site import Layout
from plait.sparsity.masks import with_masks

LAYOUT = Layout.matrix((3, 2), [0])
MASK = np.array([[True, False], [True, True], [False, True]])
FAMILIES = [plait.MeanField(0.5), plait.Tied(2, 0.5), plait.MatrixNormal(init_scale=0.5), plait.LowRank(1, 0.5)]


def build(family: plait.Family, key: jax.Array) -> plait.BayesianModel:
    weight = jax.random.normal(key, (3, 2))
    bnn = plait.bayesianize({"w": weight}, jnp.ones((2, 3)), apply=lambda p, x: x @ p["w"], posterior=family, key=key)
    return with_masks(bnn, {"w": MASK})


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.describe())
def test_moments_and_outputs_are_those_of_zeroed_weights(family: plait.Family, key: jax.Array):
    bnn = build(family, key)
    q = bnn.posteriors["w"]
    assert isinstance(q, MaskedPosterior)
    draws = jax.vmap(q.sample)(jax.random.split(key, 4000))
    assert jnp.all(draws[:, ~MASK] == 0)
    np.testing.assert_allclose(jnp.mean(draws, 0), q.mean, atol=6 * 0.5 / 60)
    np.testing.assert_allclose(jnp.diagonal(q.covariance()).reshape(3, 2), q.variance, rtol=1e-5)
    x = jax.random.normal(key, (2, 3))
    expected = jnp.einsum("ni,nk,ijkj->nj", x, x, q.covariance().reshape(3, 2, 3, 2))
    outputs = jax.vmap(lambda k: bnn(x, key=k))(jax.random.split(key, 4000))
    np.testing.assert_allclose(jnp.var(outputs, axis=0), expected, rtol=6 * np.sqrt(2 / 4000))
    assert jnp.array_equal(bnn(x, key=None), x @ q.mean)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.describe())
def test_the_kl_is_that_of_the_whole_weight(family: plait.Family, key: jax.Array):
    bnn = build(family, key)
    q = bnn.posteriors["w"]
    np.testing.assert_allclose(bnn.kl(), bnn.priors["w"].kl(q.weight, key=None), rtol=1e-6)
    assert q.num_params == q.weight.num_params
    assert q.entropy() == -jnp.inf


def test_flipout_and_one_draw_are_masked_too(key: jax.Array):
    for estimator in ("flipout", "weights"):
        weight = jax.random.normal(key, (3, 2))
        bnn: Any = plait.bayesianize(
            weight,
            jnp.ones((2, 3)),
            apply=lambda w, x: x @ w,
            posterior=plait.MeanField(0.5),
            estimator=estimator,
            key=key,
        )
        mask = np.zeros((3, 2), bool)
        mask[0, 0] = True
        outputs = with_masks(bnn, {"weight": mask})(jnp.ones((4, 3)), key=key)
        assert jnp.all(outputs[:, 1] == 0)
        assert jnp.all(outputs[:, 0] != weight[0, 0])


def test_a_window_of_it_is_masked(key: jax.Array):
    # Two halves of one weight: each sees its part of the mask.
    weight = jax.random.normal(key, (3, 2))
    bnn = plait.bayesianize(
        {"w": weight},
        jnp.ones((2, 3)),
        apply=lambda p, x: x @ p["w"][:, :1] + x @ p["w"][:, 1:],
        posterior=plait.MeanField(0.5),
        key=key,
    )
    masked = with_masks(bnn, {"w": np.zeros((3, 2), bool)})
    assert jnp.all(masked(jnp.ones((2, 3)), key=key) == 0)


def test_what_is_left_of_some_rows_and_columns(key: jax.Array):
    q = build(plait.MeanField(0.5), key).posteriors["w"]
    part = q.restricted((np.array([0, 1]), np.array([0, 1])))
    assert isinstance(part, MaskedPosterior)
    np.testing.assert_array_equal(part.mean, q.mean[:2])
    whole = q.restricted((np.array([1]), np.array([0, 1])))
    assert not isinstance(whole, MaskedPosterior)


def test_a_mask_must_fit_and_a_density_does_not_exist(key: jax.Array):
    q = build(plait.MeanField(0.5), key).posteriors["w"]
    with pytest.raises(ValueError, match=r"a boolean for each entry of a weight of shape \(3, 2\), got bool of shape"):
        MaskedPosterior(q.weight, jnp.ones((2, 3), bool))
    with pytest.raises(ValueError, match="has no density: 2 of its 6 entries are always zero"):
        q.log_prob(q.mean)
