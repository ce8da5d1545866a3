"""One product for all of a mapped axis: the values and gradients of the usual rule."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.linalg.merged_product import merged_product

WEIGHT = jax.random.normal(jax.random.key(0), (3, 2, 5))


@pytest.mark.parametrize(
    ("shape", "contracted"),
    [((4, 7, 3, 2), ((1, 2), (0, 1))), ((4, 2, 6, 3), ((0, 2), (1, 0))), ((4, 5), ((0,), (2,)))],
)
def test_it_is_what_vmap_does(shape: tuple[int, ...], contracted: tuple[tuple[int, ...], tuple[int, ...]]):
    x = jax.random.normal(jax.random.key(1), shape)
    free = tuple(i for i in range(len(shape) - 1) if i not in contracted[0])

    def ours(x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.vmap(lambda x: merged_product(x, w, contracted))(x)

    def usual(x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.vmap(lambda x: jax.lax.dot_general(x, w, (contracted, ((), ()))))(x)

    assert ours(x, WEIGHT).shape[: 1 + len(free)] == (4, *(shape[1 + i] for i in free))
    found, expected = (
        jax.value_and_grad(lambda x, w, f=f: jnp.sum(jnp.sin(f(x, w))), argnums=(0, 1))(x, WEIGHT)
        for f in (ours, usual)
    )
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_a_weight_that_is_mapped_takes_the_usual_way():
    x = jnp.ones((2, 4, 5))
    weights = jnp.stack([WEIGHT, 2 * WEIGHT])
    found = jax.vmap(lambda x, w: merged_product(x, w, ((1,), (2,))))(x, weights)
    np.testing.assert_allclose(found[1], 2 * found[0], rtol=1e-5)
    assert found.shape == (2, 4, 3, 2)
