"""Keys: what is refused, and what a weight's key depends on."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import plait
from plait._random import cauchy, cauchy_quantile, check_key, key_for


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (None, "must be a typed key from `jax.random.key.*got NoneType"),
        (0, "got int"),
        (np.zeros(2, np.uint32), "got ndarray of dtype uint32; `jax.random.wrap_key_data` makes one"),
        (jnp.zeros(2), "got .* of dtype float32$"),
    ],
)
def test_anything_but_a_typed_key_is_refused(wrong: object, says: str):
    with pytest.raises(TypeError, match=says):
        check_key(wrong)


def test_several_keys_are_refused():
    with pytest.raises(ValueError, match=r"must be one key, got an array of keys of shape \(3,\).*jax\.vmap"):
        check_key(jax.random.split(jax.random.key(0), 3))


def test_no_key_is_fine_where_it_is_optional():
    check_key(None, optional=True)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("wrong", [None, jax.random.PRNGKey(0)], ids=["none", "raw"])
def test_every_function_that_draws_refuses_what_is_no_key(wrong: object):
    weight, x, key = {"w": jnp.ones((3, 2))}, jnp.ones((4, 3)), jax.random.key(0)
    likelihood = plait.likelihood.Gaussian(1.0)

    def apply(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        return x @ params["w"]

    bnn = plait.bayesianize(weight, x, apply=apply, key=key)
    calls = [
        lambda: plait.bayesianize(weight, x, apply=apply, key=wrong),
        lambda: bnn.sample(wrong),
        lambda: plait.record(bnn, x, likelihood=likelihood, key=wrong),
        lambda: plait.elbo(bnn, (x, jnp.ones((4, 2))), key=wrong, likelihood=likelihood, dataset_size=4),
    ]
    if wrong is not None:
        # None asks these two for mean weights and for a KL in closed form.
        calls += [lambda: bnn(x, key=wrong), lambda: bnn.kl(key=wrong)]
    for call in calls:
        with pytest.raises(TypeError, match=r"must be a typed key from `jax\.random\.key"):
            call()


def test_the_key_of_a_weight_depends_on_its_path_and_use_alone():
    key = jax.random.key(0)
    bits = {name: int(jax.random.bits(key_for(key, *name))) for name in (("a", 0), ("a", 1), ("b", 0))}
    assert len(set(bits.values())) == 3
    assert int(jax.random.bits(key_for(key, "a", 1))) == bits["a", 1]


def test_cauchy_noise_has_the_quantiles_of_scipy(key: jax.Array):
    extremes = jnp.array([0, 2**32 - 1, 2**31, 2**30, 3 * 2**30 - 1, 512], jnp.uint32)
    bits = jnp.concatenate([extremes, jax.random.bits(key, (1_000,))])
    uniform = (np.asarray(bits >> 9).astype(np.float64) + 0.5) * 2.0**-23
    np.testing.assert_allclose(cauchy_quantile(bits), scipy.stats.cauchy.ppf(uniform), rtol=1e-6)
    draws = cauchy(key, (4_000,), jnp.float16)
    assert draws.dtype == jnp.float16
    assert abs(np.mean(np.abs(draws.astype(np.float32)) < 1) - 0.5) < 6 * 0.5 / 4_000**0.5
    other = jax.random.key(0, impl="rbg")
    np.testing.assert_array_equal(cauchy(other, (3,), jnp.float32), jax.random.cauchy(other, (3,), jnp.float32))
