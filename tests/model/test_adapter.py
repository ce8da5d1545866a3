"""What can be made Bayesian and what cannot, and how the parts of a model are told apart."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait

KEY = jax.random.key(0)
X = jnp.ones((4, 3))


class Silent(eqx.Module):
    weight: jax.Array


class Scaled(eqx.Module):
    """A weight, an integer table, a key, a numpy array and a function."""

    weight: jax.Array
    table: jax.Array
    key: jax.Array
    other: np.ndarray
    function: Any

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.function(x @ self.weight) + self.other + self.table.astype(jnp.float32)


def test_what_is_no_model_needs_an_apply():
    with pytest.raises(TypeError, match=r"cannot call a dict: pass an Equinox module.*`apply=fn`"):
        plait.bayesianize({"w": jnp.ones((3, 2))}, X, key=KEY)


def test_a_module_that_cannot_be_called_needs_an_apply():
    with pytest.raises(TypeError, match=r"must be callable, and Silent is not: pass `apply=fn`"):
        plait.bayesianize(Silent(jnp.ones((3, 2))), X, key=KEY)
    bnn = plait.bayesianize(Silent(jnp.ones((3, 2))), X, apply=lambda model, x: x @ model.weight, key=KEY)
    assert isinstance(bnn.sample(KEY), Silent)


def test_integer_weights_are_refused():
    with pytest.raises(TypeError, match=r"no floating-point arrays.*its leaves are int32.*cast integer weights"):
        plait.bayesianize({"w": jnp.ones((3, 2), jnp.int32)}, X, apply=lambda p, x: x @ p["w"], key=KEY)


@pytest.mark.parametrize("wrong", [jnp.nan, jnp.inf])
def test_weights_that_are_not_finite_are_refused(wrong: float):
    weights = {"a": jnp.ones((3, 2)), "b": jnp.array([0.0, wrong])}
    with pytest.raises(ValueError, match=r"weight 'b' must be finite.*initialise or restore"):
        plait.bayesianize(weights, X, apply=lambda p, x: x @ p["a"] + p["b"][None], key=KEY)


def test_what_is_no_weight_is_kept_as_it_is():
    model = Scaled(jnp.ones((3, 2)), jnp.arange(2), KEY, np.ones(2, np.float32), jnp.tanh)
    bnn = plait.bayesianize(model, X, key=KEY)
    # Numpy's floating-point arrays are weights too.
    assert {row.path for row in bnn.sites} == {"weight", "other"}
    mean = bnn.mean()
    assert isinstance(mean, Scaled)
    assert mean.function is jnp.tanh
    assert jnp.array_equal(mean.table, model.table)
    assert jax.random.key_data(mean.key).tolist() == jax.random.key_data(KEY).tolist()
    np.testing.assert_allclose(bnn(X, key=None), jax.vmap(model)(X), rtol=1e-6)


def test_an_input_of_the_wrong_rank_is_explained():
    model = eqx.nn.MLP(3, 2, 4, 1, key=KEY)
    with pytest.raises(
        ValueError, match=r"batch, an array .* whose first axis runs over examples; got a scalar.*x\[None\]"
    ):
        plait.bayesianize(model, jnp.ones(()), key=KEY)
    with pytest.raises(ValueError, match="got a str without arrays"):
        plait.bayesianize(model, "x", key=KEY)
    # One example instead of a batch: the framework complains in its own words, and a note says how it was called.
    with pytest.raises((TypeError, ValueError), match=r"for each example of a batch x of shape \(3,\); the first axis"):
        plait.bayesianize(model, X[0], key=KEY)
    bnn = plait.bayesianize(model, X, key=KEY)
    with pytest.raises((TypeError, ValueError), match=r"for each example of a batch x of shape \(3,\)"):
        bnn(X[0], key=KEY)
    with pytest.raises(ValueError, match="got a scalar"):
        bnn(jnp.ones(()), key=KEY)


def test_a_function_of_the_batch_is_told_so():
    def apply(params: Any, x: jax.Array) -> jax.Array:
        return x @ params["w"]

    with pytest.raises(TypeError, match=r"called on a batch x of shape \(4, 5\).*`apply=fn`"):
        plait.bayesianize({"w": jnp.ones((3, 2))}, jnp.ones((4, 5)), apply=apply, key=KEY)


def test_running_statistics_of_a_linen_module_are_no_weights():
    variables = {"params": {"kernel": jnp.ones((3, 2))}, "batch_stats": {"mean": jnp.zeros(3), "var": jnp.ones(3)}}

    def apply(variables: Any, x: jax.Array) -> jax.Array:
        stats = variables["batch_stats"]
        return (x - stats["mean"][None]) / jnp.sqrt(stats["var"])[None] @ variables["params"]["kernel"]

    bnn = plait.bayesianize(variables, X, apply=apply, posterior=plait.MeanField(), key=KEY)
    assert [row.path for row in bnn.sites] == ["params.kernel"]
    np.testing.assert_array_equal(bnn.sample(KEY)["batch_stats"]["var"], jnp.ones(3))
