"""Rank-1 factors: what has a density and what has not, and what is refused."""

from collections.abc import Callable

import cases
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.posterior import Posterior
from plait.site import Layout

LAYOUT = Layout.matrix((3, 2), [0])


def factors(**options: object) -> Posterior:
    return plait.RankOne(2, **options).initialise(jnp.ones((3, 2)), LAYOUT, key=jax.random.key(0))


def biases() -> Posterior:
    return plait.RankOne(2).initialise(jnp.ones(3), Layout.vector((3,)), key=jax.random.key(0))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: factors().log_prob(jnp.ones((3, 2))), "no density over weights, only over its factors; see `parts`"),
        (lambda: factors().entropy(), "no entropy over weights, only over its factors; see `parts`"),
        (lambda: biases().log_prob(jnp.ones(3)), "biases .* have no density; `parts` leaves them out"),
    ],
)
def test_densities_are_of_factors(call: Callable[[], object], says: str):
    with pytest.raises(ValueError, match=says):
        call()


@pytest.mark.parametrize(("reduction", "weight"), [("mean", 0.5), ("sum", 1.0)])
def test_the_parts_are_what_the_prior_acts_on(reduction: str, weight: float):
    assert [part_weight for part_weight, _ in factors(kl_reduction=reduction).parts()] == [weight, weight]
    assert [part_weight for part_weight, _ in factors(sides="rows", kl_reduction=reduction).parts()] == [weight]
    assert biases().parts() == []


def test_every_trained_number_is_counted():
    # Kernel, and mean and spread of 3 + 2 factors in two components; a bias for each component.
    assert factors().num_params == 6 + 2 * 2 * (3 + 2)
    assert biases().num_params == 6


def test_the_biases_are_those_of_a_component():
    value = biases()
    assert value.components == 2
    assert jnp.array_equal(value.component(1).mean, jnp.ones(3))
    assert jnp.array_equal(value.variance, jnp.zeros(3))
    assert value.entropy() == -jnp.inf
    assert jnp.array_equal(value.sample(jax.random.key(0)), jnp.ones(3))


def test_a_draw_is_clipped():
    wild = factors(dropout_rate=0.9999, clip=0.5, random_sign_init=1.0)
    draw = wild.draw(jax.random.key(1))
    assert float(jnp.max(jnp.abs(draw.rows))) <= 0.5
    np.testing.assert_allclose(draw.dense(), draw.kernel * jnp.outer(draw.rows, draw.columns), rtol=1e-6)


def test_a_lookup_has_column_factors_only(key: jax.Array):
    bnn, _ = cases.build(plait.RankOne(2), cases.SITES["embedding"], key)
    value = bnn.posteriors["w"]
    assert value.rows is None
    assert value.columns.mean.shape == (2, 3)
