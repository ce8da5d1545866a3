"""Local reparametrisation draws the noise of a kernel and of the bias after it together, and nobody can tell."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import plait

DRAWS = 20_000


def model(key: jax.Array) -> dict[str, jax.Array]:
    return {"kernel": jax.random.normal(key, (3, 2)), "bias": jnp.ones(2)}


def affine(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    return x @ params["kernel"] + params["bias"][None]


def test_the_variance_is_the_sum_of_both(key: jax.Array):
    x = jax.random.normal(key, (2, 3))
    family = {"kernel": plait.Tied(2, 0.4), "bias": plait.MeanField(0.7)}
    bnn = plait.bayesianize(model(key), x, apply=affine, posterior=family, key=key)

    @eqx.filter_jit
    def draws(bnn: plait.BayesianModel, keys: jax.Array) -> jax.Array:
        return jax.vmap(lambda k: bnn(x, key=k))(keys).reshape(DRAWS, -1)

    seen = np.asarray(draws(bnn, jax.random.split(key, DRAWS)))
    kernel, bias = bnn.posteriors["kernel"], bnn.posteriors["bias"]
    expected = (jnp.square(x) @ kernel.variance + bias.variance[None]).reshape(-1)
    np.testing.assert_allclose(seen.var(0), expected, rtol=6 * (2 / DRAWS) ** 0.5)
    np.testing.assert_array_less(np.abs(np.corrcoef(seen.T) - np.eye(4)), 6 / DRAWS**0.5)


def test_one_draw_of_noise_is_made_for_both(key: jax.Array):
    x = jnp.ones((2, 3))
    bnn = plait.bayesianize(model(key), x, apply=affine, posterior=plait.MeanField(), key=key)
    program = str(jax.make_jaxpr(lambda k: bnn(x, key=k))(key))
    # The division that ends every draw of normal noise; with one of its own the bias would have a second.
    assert program.count(" div ") == 1


def test_a_value_that_is_used_twice_is_drawn_once(key: jax.Array):
    def twice(params: dict[str, jax.Array], x: jax.Array) -> tuple[jax.Array, jax.Array]:
        hidden = x @ params["kernel"]
        return hidden, hidden + params["bias"][None]

    x = jnp.ones((2, 3))
    point_bias = {"kernel": plait.MeanField(0.5)}
    bnn = plait.bayesianize(model(key), x, apply=twice, posterior=point_bias, key=key)
    before, after = bnn(x, key=key)
    np.testing.assert_allclose(after, before + 1, rtol=1e-6)


def test_noise_waits_through_what_only_moves_entries(key: jax.Array):
    # A vmapped `weight @ x` leaves its result transposed before the bias meets it.
    linear = eqx.nn.Linear(3, 2, key=key)
    x = jax.random.normal(key, (4, 3))
    bnn = plait.bayesianize(linear, x, posterior=plait.MeanField(0.5), key=key)
    program = str(jax.make_jaxpr(lambda k: bnn(x, key=k))(key))
    assert program.count(" div ") == 1
    assert bnn(x, key=key).shape == (4, 2)
