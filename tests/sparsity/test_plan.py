"""What goes and what stays, decided from what following a program has shown."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from plait.sparsity.follow import Follower
from plait.sparsity.plan import Plan, make_plan
from plait.trace import trace

KEYS = jax.random.split(jax.random.key(0), 4)


def plan(forward: Any, **weights: jax.Array) -> Plan:
    program = trace(forward, weights, (jnp.ones((3, weights["w"].shape[0])),))
    live = {name: np.asarray(leaf != 0) for name, leaf in weights.items()}
    ledger = Follower(weights, live).run(program, program.inputs)
    return make_plan(ledger, weights, live)


def normal(index: int, *shape: int) -> jax.Array:
    return jax.random.normal(KEYS[index], shape)


def test_constants_are_added_to_the_bias_of_the_reader():
    w, v, b = normal(0, 2, 4).at[:, 1].set(0), normal(1, 4, 3), normal(2, 3)
    found = plan(lambda p, x: jnp.exp(x @ p["w"]) @ p["v"] + p["b"][None], w=w, v=v, b=b)
    np.testing.assert_array_equal(found.gone["w"], [False, True, False, False])
    np.testing.assert_allclose(found.shifts["b"], v[1], rtol=1e-6)
    assert [index.tolist() for index in found.kept["v"]] == [[0, 2, 3], [0, 1, 2]]
    assert "b" not in found.kept


def test_what_only_cut_columns_read_is_cut_with_them():
    # Unit 0 of w feeds only unit 2 of v, which nothing reads.
    w, v, u = normal(0, 2, 3), normal(1, 3, 4).at[0, jnp.array([0, 1, 3])].set(0), normal(2, 4, 2).at[2].set(0)
    found = plan(lambda p, x: jnp.tanh(jnp.tanh(x @ p["w"]) @ p["v"]) @ p["u"], w=w, v=v, u=u)
    np.testing.assert_array_equal(found.gone["w"], [True, False, False])
    np.testing.assert_array_equal(found.gone["v"], [False, False, True, False])
    assert not found.shifts


def test_a_weight_that_other_units_meet_elsewhere_stays():
    w, v, u = normal(0, 2, 4).at[:, 1].set(0), normal(1, 4, 3), normal(2, 2, 4)
    found = plan(lambda p, x: jnp.tanh(x @ p["w"]) @ p["v"] + jnp.tanh(x @ p["u"]) @ p["v"], w=w, v=v, u=u)
    assert not found.kept
    assert found.reasons["w"] == found.reasons["u"] == "'v' is used elsewhere without these units"


def test_a_bias_that_is_used_twice_takes_nothing_up():
    w, v, b = normal(0, 2, 3).at[:, 1].set(0), normal(1, 3, 3), normal(2, 3)
    forward = lambda p, x: jnp.sum(p["b"]) + jnp.exp(x @ p["w"]) @ p["v"] + p["b"][None]  # noqa: E731
    assert "has no bias of its own to take it up" in plan(forward, w=w, v=v, b=b).reasons["w"]


def test_units_that_nothing_reads_as_far_as_is_known_stay():
    found = plan(lambda p, x: jnp.sum(jnp.sort(x @ p["w"], 1)), w=normal(0, 2, 3))
    assert found.reasons["w"].startswith("`sort`")
    found = plan(lambda p, x: x + 0 * jnp.sum(jnp.ones(3)), w=normal(0, 2, 3))
    assert not found.gone


def test_one_unit_stays_even_if_none_is_needed():
    w, v = jnp.zeros((2, 3)), normal(1, 3, 2)
    found = plan(lambda p, x: jnp.tanh(x @ p["w"]) @ p["v"], w=w, v=v)
    assert found.gone["w"].sum() == 2
