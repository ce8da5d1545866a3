"""Units on their way through programs: where they can be followed, and the reason where not."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.sparsity.follow import Follower, concrete
from plait.sparsity.value import Ledger, Line
from plait.trace import trace

UNITS, OTHER = 4, 3


def ledger(forward: Callable[[Any, Any], Any], **more: Any) -> Ledger:
    """Of forward(weights, x), x of [batch, 2]; weights `w` of two to four units, `v` from four units to three."""
    shapes = {"w": (2, UNITS), "v": (UNITS, OTHER), "b": (UNITS,), "u": (UNITS, UNITS)} | more
    keys = jax.random.split(jax.random.key(0), len(shapes))
    leaves = {name: jax.random.normal(k, shape) for (name, shape), k in zip(shapes.items(), keys, strict=True)}
    leaves["w"] = leaves["w"].at[:, 1].set(0)
    program = trace(forward, leaves, (jnp.ones((5, 2)),))
    live = {name: np.asarray(leaf != 0) for name, leaf in leaves.items()}
    return Follower(leaves, live).run(program, program.inputs)


def spread(p: Any, y: Any) -> Any:
    """Four units for each of 2 x 2 places, [batch, 2, 2, units]."""
    return y[:, None, None] * jnp.ones((1, 2, 2, 1)) + p["b"][None, None, None]


def pooled(y: Any, *window: int) -> Any:
    return jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, window, (1,) * len(window), "SAME")


FOLLOWED: dict[str, Callable[[Any, Any], Any]] = {
    "nothing between": lambda p, x: (x @ p["w"]) @ p["v"],
    "a bias and an activation": lambda p, x: jax.nn.gelu(x @ p["w"] + p["b"][None]) @ p["v"],
    "transposes": lambda p, x: jnp.einsum("hn,ho->on", jnp.sin((x @ p["w"]).T), p["v"]),
    "places": lambda p, x: jnp.einsum("nijh,ho->nijo", spread(p, x @ p["w"]), p["v"]),
    "sums and maxima over places": lambda p, x: jnp.max(jnp.sum(spread(p, x @ p["w"]), 1), 1) @ p["v"],
    "pooling": lambda p, x: jnp.mean(pooled(spread(p, x @ p["w"]), 1, 2, 2, 1), (1, 2)) @ p["v"],
    "a normalisation with running statistics": lambda p, x: (
        ((x @ p["w"] - p["b"][None]) / jnp.sqrt(jnp.exp(p["m"]) + 1e-5)[None] * p["b"][None]) @ p["v"]
    ),
    "a normalisation with those of the batch": lambda p, x: (lambda y: (y - jnp.mean(y, 0, keepdims=True)) @ p["v"])(
        x @ p["w"]
    ),
    "padding, slices and reversal of places": lambda p, x: (
        jnp.flip(jnp.pad(spread(p, x @ p["w"]), ((0, 0), (1, 1), (0, 0), (0, 0)))[:, ::2], 1).sum((1, 2)) @ p["v"]
    ),
    "cumulative sums over places": lambda p, x: jnp.cumsum(spread(p, x @ p["w"]), 1).sum((1, 2)) @ p["v"],
    "a concatenation of places": lambda p, x: (
        (lambda y: jnp.concatenate([y, 2 * y], 1).sum((1, 2)) @ p["v"])(spread(p, x @ p["w"]))
    ),
    "a factor for each example": lambda p, x: ((x @ p["w"]) * jnp.sum(x, 1, keepdims=True)) @ p["v"],
    "a checkpoint": lambda p, x: jax.checkpoint(lambda w: jnp.tanh(x @ w))(p["w"]) @ p["v"],
    "the batch folded into places": lambda p, x: (
        spread(p, x @ p["w"]).reshape(-1, UNITS) @ p["v"]
    ),
}  # fmt: skip


@pytest.mark.parametrize("forward", FOLLOWED.values(), ids=FOLLOWED)
def test_units_are_followed(forward: Callable[[Any, Any], Any]):
    found = ledger(forward, m=(UNITS,))
    assert found.sizes["w"] == UNITS
    assert "w" not in found.reasons, found.reasons
    (meeting,) = (m for m in found.meetings if m.layer == "v")
    np.testing.assert_array_equal(meeting.units.index, np.arange(UNITS))
    (units,) = found.cuts[Line("v", 0)]
    assert units is not None
    assert units.layer == "w"
    assert found.outputs == {"v"}
    assert found.reasons["v"] == "its units are outputs of the model"
    for use in found.cuts.get(Line("b", 0), []):
        assert use is not None
        assert use.layer == "w"


STOPPED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "a residual connection": (
        lambda p, x: (lambda y: (y + y @ p["u"]) @ p["v"])(x @ p["w"]),
        "its units meet those of another layer, as in a residual connection",
    ),
    "a softmax": (lambda p, x: jax.nn.softmax(x @ p["w"]) @ p["v"], "`reduce_max` takes its units together"),
    "the inputs": (
        lambda p, x: (x @ p["w"] + jnp.tile(x, (1, 2))) @ p["v"],
        "its units meet values that are neither theirs nor the same for all of them",
    ),
    "a constant vector": (lambda p, x: (x @ p["w"] + jnp.arange(4.0)[None]) @ p["v"], "its units meet values that are"),
    "a split axis": (
        lambda p, x: jnp.einsum("nab,abo->no", (x @ p["w"]).reshape(-1, 2, 2), p["v"].reshape(2, 2, OTHER)),
        "a reshape mixes its units with other axes",
    ),
    "reversal": (lambda p, x: jnp.flip(x @ p["w"], 1) @ p["v"], "`rev` takes its units together or apart"),
    "a part": (lambda p, x: (x @ p["w"])[:, :2] @ p["v"][:2], "`slice` takes its units together or apart"),
    "a scan": (
        lambda p, x: jax.lax.scan(lambda c, y: (c + y, None), jnp.zeros(UNITS), x @ p["w"])[0] @ p["v"],
        "`scan` does not keep its units apart",
    ),
    "a sort": (lambda p, x: jnp.sort(x @ p["w"], 1) @ p["v"], "`sort` does not keep its units apart"),
    "another operand": (
        lambda p, x: jnp.concatenate([x @ p["w"], x], 1)[:, :UNITS] @ p["v"],
        "it is put together with other values",
    ),
    "a layer that mixes places": (
        lambda p, x: jnp.einsum("nh,bo->nhbo", x @ p["w"], p["v"]).sum((1, 2)),
        "'v' does not read its units along an axis of its own",
    ),
    "outputs": (lambda p, x: (x @ p["w"], (x @ p["w"]) @ p["v"]), "its units are outputs of the model"),
}


@pytest.mark.parametrize(("forward", "reason"), STOPPED.values(), ids=STOPPED)
def test_what_cannot_be_followed_is_said(forward: Callable[[Any, Any], Any], reason: str):
    assert ledger(forward).reasons["w"].startswith(reason)


def test_places_flattened_into_units_know_whose_they_are():
    def last(p: Any, x: Any) -> Any:
        return spread(p, x @ p["w"]).reshape(5, -1) @ p["k"]

    def first(p: Any, x: Any) -> Any:
        return jnp.moveaxis(spread(p, x @ p["w"]), 3, 1).reshape(5, -1) @ p["k"]

    for forward, expected in ((last, [0, 1, 2, 3] * 4), (first, np.repeat(range(4), 4))):
        (meeting,) = ledger(forward, k=(16, 2)).meetings
        np.testing.assert_array_equal(meeting.units.index, expected)


def test_a_unit_without_weights_is_steady_until_something_of_the_inputs_meets_it():
    def steady(forward: Callable[[Any, Any], Any]) -> list[bool]:
        (meeting,) = ledger(forward).meetings
        return meeting.units.steady.tolist()

    only_second = [False, True, False, False]
    assert steady(lambda p, x: jnp.exp(x @ p["w"]) @ p["v"]) == only_second
    assert steady(lambda p, x: ((x @ p["w"] + p["b"][None]) / 2) @ p["v"]) == only_second
    # A zero stays one whatever it is multiplied by; anything else does not.
    assert steady(lambda p, x: ((x @ p["w"]) * x[:, :1]) @ p["v"]) == only_second
    assert steady(lambda p, x: ((x @ p["w"] + p["b"][None]) * x[:, :1]) @ p["v"]) == [False] * 4
    assert steady(lambda p, x: ((x @ p["w"]) + x[:, :1]) @ p["v"]) == [False] * 4


def test_biases_are_what_is_added_first():
    assert ledger(lambda p, x: (x @ p["w"] + p["b"][None]) @ p["v"]).biases == {"w": Line("b", 0)}
    assert ledger(lambda p, x: (jnp.exp(x @ p["w"]) + p["b"][None]) @ p["v"]).biases == {}
    twice = ledger(lambda p, x: (lambda y: ((y + p["b"][None]) * y) @ p["v"])(x @ p["w"]))
    assert twice.biases == {}


def test_inputs_of_any_kind_have_some_value():
    assert concrete(jax.ShapeDtypeStruct((2,), jnp.int32)).dtype == jnp.int32
    key = jax.random.key(0)
    assert concrete(jax.ShapeDtypeStruct((3,), key.dtype)).shape == (3,)
