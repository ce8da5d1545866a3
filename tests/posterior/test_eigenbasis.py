"""What is particular to the eigenbasis: rotations that are not trained, columns that must see the same inputs."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait
from plait.linalg.rotation import Rotation
from plait.model import trainable


def make(key: jax.Array) -> tuple[plait.BayesianModel, jax.Array]:
    x = jax.random.normal(key, (6, 3))
    weights = {"w": jnp.ones((3, 2))}
    return plait.bayesianize(weights, x, apply=lambda w, x: x @ w["w"], posterior=plait.Eigenbasis(0.1), key=key), x


def test_gradients_train_all_but_the_rotations(key: jax.Array):
    bnn, x = make(key)
    kept = trainable(bnn).posteriors["w"]
    assert not kept.rows.matrix
    assert kept.log_std
    fit = plait.fit(
        bnn, (x, jnp.ones((6, 2))), likelihood=plait.Gaussian(0.3), optimizer=optax.adam(0.05), epochs=3, batch_size=6,
        key=key,
    )  # fmt: skip
    after = fit.model.posteriors["w"]
    np.testing.assert_array_equal(after.rows.matrix, jnp.eye(3))
    assert not np.allclose(after.log_std, bnn.posteriors["w"].log_std)
    assert after.rows.size == 3
    assert Rotation.identity(2, jnp.float32).matrix.shape == (2, 2)


def test_groups_have_no_direct_draw(key: jax.Array):
    x = jax.random.normal(key, (2, 2, 3))
    bnn = plait.bayesianize(
        {"w": jnp.ones((2, 3, 2))}, x, apply=lambda w, x: jnp.einsum("nei,eio->neo", x, w["w"]),
        posterior=plait.Eigenbasis(0.1), key=key,
    )  # fmt: skip
    assert bnn.sites[0].estimator == "weights"
    assert bnn.sites[0].note == "one draw: its columns are correlated across the 2 groups of inputs"
    with pytest.raises(ValueError, match=r"estimator 'local' cannot be used for 'w'.*correlated across the 2 groups"):
        plait.bayesianize(
            {"w": jnp.ones((2, 3, 2))}, x, apply=lambda w, x: jnp.einsum("nei,eio->neo", x, w["w"]),
            posterior=plait.Eigenbasis(0.1), estimator="local", key=key,
        )  # fmt: skip


def test_a_direct_draw_where_there_is_none_says_so(key: jax.Array):
    value = make(key)[0].posteriors["w"]
    x = jax.random.normal(key, (2, 2, 3))
    grouped = plait.bayesianize(
        {"w": jnp.ones((2, 3, 1))}, x, apply=lambda w, x: jnp.einsum("nei,eio->neo", x, w["w"]), key=key
    )
    site = plait.record(grouped, x, likelihood=plait.Gaussian(1.0), key=key).sites["w"].site
    with pytest.raises(ValueError, match=r"'w' has no direct draw of the pre-activation: .*2 groups.*'weights'"):
        value.output_noise(site, x, key)
