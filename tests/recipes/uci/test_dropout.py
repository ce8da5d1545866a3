import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.recipes.uci.dropout import RowDropout
from plait.site.layout import Layout


def test_draws_drop_rows_and_have_the_moments(key: jax.Array):
    weight = jax.random.normal(key, (3, 2))
    posterior = RowDropout(0.3).initialise(weight, Layout.matrix((3, 2), [0]), key=key)
    draws = jax.vmap(posterior.sample)(jax.random.split(key, 4000))
    kept = draws / weight[None]
    np.testing.assert_allclose(kept[..., 0], kept[..., 1], atol=1e-6)
    np.testing.assert_allclose(jnp.unique(jnp.round(kept, 4)), [0, round(1 / 0.7, 4)], rtol=1e-3)
    error = np.sqrt(posterior.variance / 4000)
    np.testing.assert_array_less(np.abs(draws.mean(axis=0) - weight), 5 * error)
    np.testing.assert_allclose(draws.var(axis=0), posterior.variance, rtol=0.15)
    assert not posterior.parts()
    assert posterior.entropy() == -jnp.inf
    assert posterior.num_params == 6


def test_it_has_no_density(key: jax.Array):
    posterior = RowDropout().initialise(jnp.ones((3, 2)), Layout.matrix((3, 2), [0]), key=key)
    with pytest.raises(TypeError, match="no density"):
        posterior.log_prob(jnp.ones((3, 2)))
    with pytest.raises(ValueError, match=r"in \(0, 1\); got 1.0"):
        RowDropout(1.0)
