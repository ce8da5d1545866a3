"""Which bias shifts which layer."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import plait

SHIFTED: dict[str, tuple[Callable[..., Any], tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "dense": (lambda w, b, x: x @ w + b[None], (3, 2), (2,), (4, 3)),
    "vmapped": (lambda w, b, x: jax.vmap(lambda v: w @ v + b)(x), (2, 3), (2,), (4, 3)),
    "one column": (lambda w, b, x: x @ w + b[None], (3, 1), (1,), (4, 3)),
    "as wide as the batch": (lambda w, b, x: (w.T @ x.T + b[:, None]).T, (3, 4), (4,), (4, 3)),
    "sequence": (
        lambda w, b, x: jnp.einsum("nti,io->nto", x, w).transpose(0, 2, 1) + b[None, :, None],
        (3, 2), (2,), (4, 5, 3),
    ),
    "reshaped": (lambda w, b, x: (x @ w).reshape(2, 2, 2) + b[None, None], (3, 2), (2,), (4, 3)),
    "conv": (
        lambda w, b, x: lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NCH", "OIH", "NCH")) + b[None],
        (4, 2, 3), (4, 1), (2, 2, 5),
    ),
}  # fmt: skip

APART: dict[str, tuple[Callable[..., Any], tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "after a nonlinearity": (lambda w, b, x: jnp.tanh(x @ w) + b[None], (3, 2), (2,), (4, 3)),
    "on another axis": (lambda w, b, x: x @ w + b[:, None], (3, 4), (4,), (4, 3)),
    "for each entry": (lambda w, b, x: x @ w + b, (3, 2), (4, 2), (4, 3)),
    "result used twice": (lambda w, b, x: (y := x @ w) + b[None] + jnp.sum(y), (3, 2), (2,), (4, 3)),
    "columns split": (lambda w, b, x: (x @ w).reshape(4, 2, 2) + b[None, None], (3, 4), (2,), (4, 3)),
    "columns turned around": (lambda w, b, x: x @ jnp.flip(w, 1) + b[None], (3, 2), (2,), (4, 3)),
    "used elsewhere": (lambda w, b, x: x @ w + b[None] + jnp.sum(b), (3, 2), (2,), (4, 3)),
}


def shifts(name: str, cases: Any, key: jax.Array) -> str:
    apply, weight, bias, x = cases[name]
    bnn = plait.bayesianize(
        {"w": jnp.ones(weight), "b": jnp.ones(bias)}, jnp.ones(x), apply=lambda p, x: apply(p["w"], p["b"], x), key=key
    )
    return next(row.shifts for row in bnn.sites if row.path == "b")


@pytest.mark.parametrize("name", SHIFTED)
def test_a_bias_goes_with_the_layer_whose_columns_it_shifts(name: str, key: jax.Array):
    assert shifts(name, SHIFTED, key) == "w"


@pytest.mark.parametrize("name", APART)
def test_a_bias_of_something_else_stands_alone(name: str, key: jax.Array):
    assert shifts(name, APART, key) == ""
