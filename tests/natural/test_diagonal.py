"""Mean squares of gradients against those of each example, and of what has no site to itself."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.likelihood import Categorical
from plait.natural.diagonal import DiagonalCurvature
from plait.natural.fisher import Passes


def whole(outputs: Any) -> Any:
    return outputs


def apply(w: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    hidden = jnp.tanh(x @ w["first"] + w["bias"][None]) * w["scale"][None]
    return hidden @ w["last"] + w["shift"][None]


SHAPES = {"first": (3, 4), "bias": (4,), "scale": (4,), "last": (4, 3), "shift": (3,)}


def problem(key: jax.Array) -> tuple[Any, Any, jax.Array, jax.Array]:
    weights = {
        path: jax.random.normal(k, s)
        for k, (path, s) in zip(jax.random.split(key, len(SHAPES)), SHAPES.items(), strict=True)
    }
    x, y = jax.random.normal(key, (6, 3)), jnp.asarray([0, 1, 2, 0, 1, 2])
    bnn = plait.bayesianize(weights, x, apply=apply, posterior=plait.MeanField(), prior=plait.Normal(1.0), key=key)
    return bnn, weights, x, y


def test_squares_are_those_of_each_example(key: jax.Array):
    bnn, weights, x, y = problem(key)
    curvature = DiagonalCurvature.over(bnn, tuple(SHAPES))
    assert dict(curvature.biases) == {"bias": "first", "shift": "last"}
    passes = Passes(bnn, (x, y), Categorical(), whole)
    found = passes.average("empirical", passes.data(weights, key), key, lambda look: curvature.summarise(look, {}))

    def one(weights: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        return Categorical().log_prob(apply(weights, x[None]), y[None])[0]

    each = jax.vmap(jax.grad(one), in_axes=(None, 0, 0))(weights, x, y)
    for path in ("first", "bias", "last", "shift"):
        np.testing.assert_allclose(found[path], jnp.mean(jnp.square(each[path]), axis=0), rtol=1e-4, atol=1e-6)
    summed = jnp.square(jnp.sum(each["scale"], axis=0)) / 6
    np.testing.assert_allclose(found["scale"], summed, rtol=1e-4, atol=1e-6)
    small = DiagonalCurvature(tuple(SHAPES), squares="minibatch")
    found = passes.average("empirical", passes.data(weights, key), key, lambda look: small.summarise(look, {}))
    for path, value in each.items():
        np.testing.assert_allclose(found[path], jnp.square(jnp.mean(value, axis=0)), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("fisher", ["sampled", "exact"])
def test_drawn_targets_and_columns_average_to_the_diagonal_of_the_fisher_matrix(fisher: Any, key: jax.Array):
    bnn, weights, x, y = problem(key)
    curvature = DiagonalCurvature.over(bnn, tuple(SHAPES))
    passes = Passes(bnn, (x, y), Categorical(), whole)

    @jax.jit
    def squares(keys: jax.Array) -> Any:
        data = passes.data(weights, keys[0])
        return jax.vmap(lambda k: passes.average(fisher, data, k, lambda look: curvature.summarise(look, {})))(keys)

    found = squares(jax.random.split(key, 3000))

    def fisher_diagonal(x: jax.Array) -> Any:
        jacobian = jax.jacobian(lambda w: apply(w, x[None])[0])(weights)
        root = Categorical().fisher_root(apply(weights, x[None]))[:, 0]
        return {p: jnp.sum(jnp.square(jnp.tensordot(root, j, 1)), axis=0) for p, j in jacobian.items()}

    exact = jax.tree.map(lambda leaf: jnp.mean(leaf, axis=0), jax.vmap(fisher_diagonal)(x))
    for path, values in found.items():
        error = 5 * np.std(values, axis=0) / len(values) ** 0.5 + 1e-4 * np.abs(exact[path]) + 1e-5
        np.testing.assert_array_less(np.abs(np.mean(values, axis=0) - exact[path]), error)
        if fisher == "exact" and path != "scale":
            # Columns leave no noise where a weight has a site, or a layer, to itself.
            assert np.std(values, axis=0).max() < 1e-3 * max(1.0, float(jnp.max(exact[path])))


def test_places_of_a_convolution_and_rows_of_a_lookup_are_summed(key: jax.Array):
    kernel, table = jax.random.normal(key, (2, 2, 3)), jax.random.normal(key, (5, 2))

    def run(w: Any, x: jax.Array) -> jax.Array:
        seen = w["table"][x]
        numbers = ("NHC", "HIO", "NHC")
        return jnp.sum(jax.lax.conv_general_dilated(seen, w["kernel"], (1,), "VALID", dimension_numbers=numbers), 1)

    x, y = jnp.asarray([[0, 1, 1], [2, 3, 4]]), jnp.asarray([0, 2])
    weights = {"table": table, "kernel": kernel}
    bnn = plait.bayesianize(weights, x, apply=run, posterior=plait.MeanField(), prior=plait.Normal(1.0), key=key)
    passes = Passes(bnn, (x, y), Categorical(), whole)
    curvature = DiagonalCurvature.over(bnn, ("table", "kernel"))
    found = passes.average("empirical", passes.data(weights, key), key, lambda look: curvature.summarise(look, {}))
    recording = passes.data(weights, key)
    for path in weights:
        seen = recording.sites[path]
        squares = jnp.einsum("tgi,tgj->gij", jnp.square(seen.rows()), jnp.square(seen.columns()))
        np.testing.assert_allclose(found[path], seen.site.from_groups(squares) / 2, rtol=1e-4, atol=1e-6)
