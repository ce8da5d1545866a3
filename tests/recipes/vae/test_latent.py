"""An encoder's numbers as a distribution: against dense formulas."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from plait.prior import Normal
from plait.recipes.vae.latent import Latent, draw

LATENTS = [Latent("DIAG", 3, 2), Latent("MN", 3, 2), Latent("MN", 4, 1), Latent("MV", 3, 2)]


def test_heads_ask_for_the_numbers_that_the_paper_counts():
    assert Latent("DIAG", 20, 2).num_outputs == 80
    assert Latent("MN", 20, 2).num_outputs == 40 + 210 + 3
    assert Latent("MV", 20, 2).num_outputs == 40 + 820


@pytest.mark.parametrize("latent", LATENTS)
def test_zeros_are_the_prior(latent):
    q = latent.posterior(jnp.zeros(latent.num_outputs))
    np.testing.assert_allclose(q.covariance(), np.eye(latent.size), atol=1e-6)
    np.testing.assert_allclose(Normal(1.0).kl(q, key=None), 0, atol=1e-5)


@pytest.mark.parametrize("latent", LATENTS)
def test_a_draw_knows_its_density_without_a_solve(latent, key):
    first, second = jax.random.split(key)
    q = latent.posterior(0.5 * jax.random.normal(first, (latent.num_outputs,)))
    z, log_prob = draw(q, jax.random.normal(second, latent.shape))
    np.testing.assert_allclose(log_prob, q.log_prob(z), rtol=1e-4, atol=1e-4)
    dense = multivariate_normal(np.ravel(q.mean), np.asarray(q.covariance(), np.float64))
    np.testing.assert_allclose(log_prob, dense.logpdf(np.ravel(z)), rtol=1e-3, atol=1e-3)


def test_structure_decides_what_is_correlated(key):
    latent = Latent("MN", 3, 2)
    q = latent.posterior(jax.random.normal(key, (latent.num_outputs,)))
    np.testing.assert_allclose(
        q.covariance(), np.kron(q.rows.covariance(), q.columns.covariance()), rtol=1e-4, atol=1e-5
    )
    full = Latent("MV", 3, 2).posterior(jax.random.normal(key, (27,)))
    assert np.all(np.abs(np.asarray(full.covariance())) > 0)


@pytest.mark.parametrize(
    ("given", "message"), [(("LR", 3, 2), "`head` must be"), (("MN", 0, 2), "at least one row and column")]
)
def test_latents_that_do_not_exist_are_refused(given, message, unchecked):
    with pytest.raises(ValueError, match=message):
        Latent(*given)
