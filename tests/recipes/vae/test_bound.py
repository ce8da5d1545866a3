"""Bounds of an image against an integral over its latents, which are two."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.likelihood import Bernoulli
from plait.recipes.vae.bound import bounds, importance, negative_elbo
from plait.recipes.vae.latent import Latent
from plait.recipes.vae.network import Autoencoder

# Weights so small that the posterior of latents is no surprise: importance sampling is then accurate.
MODEL = jax.tree.map(lambda leaf: 0.5 * leaf, Autoencoder((3, 2), (5,), Latent("MV", 2, 1), key=jax.random.key(0)))
X = jnp.asarray(np.random.default_rng(0).random((4, 3, 2)) < 0.5, jnp.float32)


@pytest.fixture(scope="module")
def evidence():
    """log p(x) by a grid over z."""
    line = jnp.linspace(-6, 6, 121)
    z = jnp.stack(jnp.meshgrid(line, line), axis=-1).reshape(-1, 2)
    logits = jax.vmap(MODEL.decode)(z[..., None])
    log_prior = -0.5 * jnp.sum(jnp.square(z), axis=-1) - np.log(2 * np.pi)
    cell = 2 * np.log(float(line[1] - line[0]))
    return jnp.stack(
        [jax.nn.logsumexp(Bernoulli().log_prob(logits[:, None], x[None])[:, 0] + log_prior) + cell for x in X]
    )


def test_importance_sampling_finds_the_evidence(evidence, key):
    found, elbo = importance(MODEL, X, key, 2000, 500)
    np.testing.assert_allclose(found, evidence, atol=0.05)
    assert np.all(elbo <= found)
    # The average of log weights is another estimate of the bound that training has in closed form.
    keys = jax.random.split(key, 2000)
    nll, kl = jax.vmap(lambda k: bounds(MODEL, X, k))(keys)
    terms = -(nll + kl)
    error = terms.std(axis=0) / np.sqrt(2000)
    assert np.all(np.abs(elbo - terms.mean(axis=0)) < 8 * error + 1e-3)


def test_chunks_do_not_change_what_is_estimated_and_must_fit(evidence, key):
    found, _ = importance(MODEL, X, key, 2000, 200)
    np.testing.assert_allclose(found, evidence, atol=0.05)
    with pytest.raises(ValueError, match="cannot be drawn in chunks of 3"):
        importance(MODEL, X, key, 10, 3)


def test_images_left_over_count_once(key):
    assert float(negative_elbo(MODEL, X, key, 4)) > 0
    many = jnp.repeat(X[:1], 400, axis=0)
    pair = [float(negative_elbo(MODEL, many, key, size)) for size in (400, 150)]
    assert pair[0] == pytest.approx(pair[1], abs=0.4)


def test_a_call_is_the_reconstruction_from_the_mean():
    assert MODEL(X[0]).shape == (3, 2)
    np.testing.assert_allclose(MODEL(X[0]), MODEL.decode(MODEL.encode(X[0]).mean))
