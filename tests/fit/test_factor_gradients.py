"""Gradients of factors are multiplied, and points are pulled to zero: nothing else is touched."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import plait
from plait.fit import l2_on_points, scale_factor_gradients


@pytest.fixture(scope="module")
def parameters():
    params = {"w": jnp.full((3, 2), 2.0), "b": jnp.ones(2), "c": jnp.ones(2), "d": jnp.ones(2)}
    bnn = plait.bayesianize(
        params,
        jnp.ones((2, 3)),
        apply=lambda p, x: (x @ p["w"] + p["b"][None]) * p["c"][None] + p["d"][None],
        posterior={"d": plait.MeanField(), "c": plait.Point(), "*": plait.RankOne(2, sides="rows")},
        prior={"d": plait.Normal(1.0), "*": plait.Normal(0.1, mean=1.0)},
        key=jax.random.key(0),
    )
    return jax.tree.map(lambda leaf: jnp.ones_like(leaf), bnn), bnn


def test_only_factors_are_multiplied(parameters):
    ones, bnn = parameters
    transformation = scale_factor_gradients(3.0)
    found, _ = transformation.update(ones, transformation.init(bnn), bnn)
    assert jnp.all(found.posteriors["w"].rows.mean == 3)
    assert jnp.all(found.posteriors["w"].rows.unconstrained == 3)
    for leaf in (found.posteriors["w"].kernel, found.posteriors["b"].values, found.posteriors["c"].mean):
        assert jnp.all(leaf == 1)
    assert all(jnp.all(leaf == 1) for leaf in jax.tree.leaves(found.posteriors["d"]))


def test_points_get_the_gradient_of_their_square(parameters):
    ones, bnn = parameters
    transformation = optax.chain(l2_on_points(0.1, leaving_out=("c",)), optax.identity())
    found, _ = transformation.update(ones, transformation.init(bnn), bnn)
    np.testing.assert_allclose(found.posteriors["w"].kernel, 1 + 0.2 * 2.0, rtol=1e-6)
    np.testing.assert_allclose(found.posteriors["b"].values, 1 + 0.2, rtol=1e-6)
    assert jnp.all(found.posteriors["c"].mean == 1)
    untouched = (found.posteriors["w"].rows, found.posteriors["d"])
    assert all(jnp.all(leaf == 1) for leaf in jax.tree.leaves(untouched))


@pytest.mark.usefixtures("unchecked")
def test_what_makes_no_sense_is_refused(parameters):
    with pytest.raises(ValueError, match="`multiplier` is a factor on gradients and must be positive, got 0"):
        scale_factor_gradients(0)
    with pytest.raises(ValueError, match="`strength` is a factor on squares and must be at least 0, got -1"):
        l2_on_points(-1)
    with pytest.raises(ValueError, match="needs the parameters"):
        l2_on_points(0.1).update(parameters[0], optax.EmptyState())
