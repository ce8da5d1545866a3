"""A kernel and its bias as one matrix under any family of matrices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.posterior import LayerMatrix, LayerPosterior
from plait.site import Layout

KERNEL = Layout.matrix((2, 3), [1])
WITH_BIAS = LayerMatrix("w", KERNEL, "b", Layout.vector((2, 1)))
FAMILIES = {"matrix-normal": plait.MatrixNormal(init_scale=0.3), "eigenbasis": plait.Eigenbasis(0.3)}


def make(family: plait.Family, layer: LayerMatrix, key: jax.Array) -> LayerPosterior:
    mean = jax.random.normal(key, (layer.rows, layer.columns))
    value = LayerPosterior(family.initialise(mean, layer.layout, key=key), layer)
    leaves, structure = jax.tree.flatten(value)
    keys = jax.random.split(key, len(leaves))
    # Bases stay what they are: the identity.
    moved = [
        leaf if jnp.array_equal(leaf, jnp.eye(*leaf.shape[-2:])) else leaf + 0.2 * jax.random.normal(k, leaf.shape)
        for leaf, k in zip(leaves, keys, strict=True)
        if leaf.ndim
    ]
    return jax.tree.unflatten(structure, moved)


def test_weights_and_matrix_are_the_same_numbers(key: jax.Array):
    weights = {"w": jax.random.normal(key, (2, 3)), "b": jnp.asarray([[5.0], [6.0]])}
    matrix = WITH_BIAS.join(weights)
    np.testing.assert_array_equal(matrix, np.concatenate([np.asarray(weights["w"]).T, [[5.0, 6.0]]]))
    for path, part in WITH_BIAS.split(matrix).items():
        np.testing.assert_array_equal(part, weights[path])
    alone = LayerMatrix("w", KERNEL)
    assert alone.paths == ("w",)
    np.testing.assert_array_equal(alone.split(alone.join(weights))["w"], weights["w"])
    assert (alone.rows, WITH_BIAS.rows, alone.columns) == (3, 4, 2)
    rows = WITH_BIAS.split_rows(jnp.arange(4.0))
    assert (rows["w"].tolist(), rows["b"].tolist()) == ([0, 1, 2], [3])


@pytest.mark.parametrize("name", FAMILIES)
def test_everything_follows_from_the_posterior_of_the_matrix(name: str, key: jax.Array):
    value = make(FAMILIES[name], WITH_BIAS, key)
    assert set(value.means) == {"w", "b"}
    draw = value.sample(key)
    np.testing.assert_allclose(value.log_prob(draw), value.matrix.log_prob(WITH_BIAS.join(draw)), rtol=1e-6)
    np.testing.assert_allclose(value.entropy(), value.matrix.entropy(), rtol=1e-6)
    variances = jnp.diagonal(value.covariance()).reshape(4, 2)
    for path, marginal in value.marginals().items():
        np.testing.assert_allclose(marginal.variance, WITH_BIAS.split(variances)[path], rtol=1e-4)
        np.testing.assert_allclose(marginal.total_variance(), jnp.sum(marginal.variance), rtol=1e-5)
    assert value.num_params == value.matrix.num_params
