"""Masks that are given by hand."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.posterior import MaskedPosterior
from plait.sparsity.masks import mask_of, report_of, with_masks


def model() -> plait.BayesianModel:
    return plait.bayesianize(
        {"w": jnp.ones((3, 2))}, jnp.ones((2, 3)), apply=lambda p, x: x @ p["w"], key=jax.random.key(0)
    )


def test_masks_add_up():
    first, second = np.ones((3, 2), bool), np.ones((3, 2), bool)
    first[0], second[:, 1] = False, False
    bnn = with_masks(with_masks(model(), {"w": first}), {"w": second})
    np.testing.assert_array_equal(mask_of(bnn, "w"), first & second)
    posterior = bnn.posteriors["w"]
    assert isinstance(posterior, MaskedPosterior)
    assert not isinstance(posterior.weight, MaskedPosterior)
    (layer,) = report_of(bnn, {"w": "a note"}).layers
    assert (layer.weights_left, layer.rows_left, layer.columns_left, layer.note) == (2, 2, 1, "a note")


def test_a_mask_that_keeps_everything_is_none():
    assert mask_of(with_masks(model(), {"w": np.ones((3, 2), bool)}), "w") is None


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "path": (lambda: with_masks(model(), {"v": np.ones(2, bool)}), "no weight 'v'; its weights are w"),
    "shape": (
        lambda: with_masks(model(), {"w": np.ones((2, 3), bool)}),
        r"'w' needs booleans of shape \(3, 2\), True where a weight is kept; got bool of shape \(2, 3\)",
    ),
    "numbers": (lambda: with_masks(model(), {"w": np.ones((3, 2))}), "got float64 of shape"),
}


@pytest.mark.parametrize(("build", "says"), REFUSED.values(), ids=REFUSED)
def test_masks_that_do_not_fit_are_refused(build: Callable[[], Any], says: str):
    with pytest.raises(ValueError, match=says):
        build()
