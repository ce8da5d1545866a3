"""A branch that is due at intervals stays a branch when it is mapped."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.natural.shared import every


def step(count: jax.Array, value: jax.Array) -> jax.Array:
    return every(count, 3, jnp.sqrt, value)


def test_it_runs_when_the_count_says_so():
    value = jnp.asarray([[4.0]])
    found = [float(jax.jit(step)(jnp.asarray(count), value)[0, 0]) for count in range(4)]
    assert found == [2.0, 4.0, 4.0, 2.0]
    assert float(every(jnp.asarray(1), 1, jnp.sqrt, value)[0, 0]) == 2.0


@pytest.mark.parametrize("depth", [1, 2])
def test_mapped_models_share_one_branch(depth: int):
    counts, values = jnp.full((2,) * depth, 3), jnp.full((2,) * depth + (1, 1), 4.0)
    mapped = step
    for _ in range(depth):
        mapped = jax.vmap(mapped)
    # A branch on a predicate for each model would have become a choice between the results of both.
    assert "cond[" in str(jax.make_jaxpr(mapped)(counts, values))
    np.testing.assert_array_equal(mapped(counts, values), jnp.full(values.shape, 2.0))
    np.testing.assert_array_equal(mapped(counts + 1, values), values)
