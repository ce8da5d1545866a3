"""What rules keep: by hand, on weights of a few entries."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import plait
from plait.site import Layout
from plait.sparsity.rule import Moments

LAYOUT = Layout.matrix((2, 3), [0])
MEAN = jnp.array([[1.0, 0.1, 0.0], [2.0, 0.3, 0.0]])
STD = jnp.array([[0.5, 1.0, 1.0], [0.5, 0.2, 0.0]])
WEIGHTS = {"w": Moments(jnp.square(MEAN), jnp.square(STD), LAYOUT)}


def kept(rule: plait.sparsity.Rule, weights: dict[str, Moments] = WEIGHTS) -> np.ndarray:
    return rule.keep(weights, dict.fromkeys(weights, rule.grains))["w"]


def test_log_alpha_compares_noise_with_signal():
    # Without noise nothing is said against a weight; without signal, everything.
    np.testing.assert_array_equal(kept(plait.LogAlpha(of=("weights",))), [[1, 0, 0], [1, 1, 1]])
    # log alpha of the second entry is log 100 = 4.6.
    np.testing.assert_array_equal(kept(plait.LogAlpha(5.0, of=("weights",))), [[1, 1, 0], [1, 1, 1]])
    np.testing.assert_array_equal(kept(plait.LogAlpha(of=("columns",))), [[1, 1, 0], [1, 1, 0]])
    np.testing.assert_array_equal(kept(plait.LogAlpha(0.0, of=("rows",))), [[0, 0, 0], [1, 1, 1]])
    both = kept(plait.LogAlpha(0.0, of=("weights", "rows")))
    np.testing.assert_array_equal(both, [[0, 0, 0], [1, 1, 1]])


def test_signal_to_noise_is_log_alpha_in_other_units():
    for threshold in (0.0, 1.0, 3.0, 4.7):
        first = plait.LogAlpha(threshold, of=("weights", "columns"))
        second = plait.SignalToNoise(float(np.exp(-threshold / 2)), of=("weights", "columns"))
        np.testing.assert_array_equal(kept(first), kept(second))


def test_a_channel_is_all_its_taps():
    layout = Layout.matrix((2, 2, 1), [0, 1], taps=[0])  # taps, channels, out
    mean = jnp.array([[[1.0], [0.0]], [[0.0], [0.1]]])
    weights = {"w": Moments(jnp.square(mean), jnp.ones((2, 2, 1)), layout)}
    np.testing.assert_array_equal(kept(plait.SignalToNoise(0.5, of=("rows",)), weights)[..., 0], [[1, 0], [0, 0]])
    np.testing.assert_array_equal(kept(plait.SignalToNoise(0.5, of=("channels",)), weights)[..., 0], [[1, 0], [1, 0]])


def test_a_budget_keeps_the_best():
    np.testing.assert_array_equal(kept(plait.Budget(0.5, score="magnitude")), [[1, 0, 0], [1, 1, 0]])
    # Signals of 4, 2 and 1.5 times the noise; a zero without noise is no signal.
    np.testing.assert_array_equal(kept(plait.Budget(0.5)), [[1, 0, 0], [1, 1, 0]])
    np.testing.assert_array_equal(kept(plait.Budget(1 / 3, "columns")), [[1, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(kept(plait.Budget(0.01, "rows")), [[0, 0, 0], [1, 1, 1]])


def test_a_budget_is_of_all_layers_or_of_each():
    other = {"w": WEIGHTS["w"], "v": Moments(100 + WEIGHTS["w"].square, WEIGHTS["w"].variance, LAYOUT)}
    assert kept(plait.Budget(0.5, score="magnitude"), other).sum() == 0
    assert kept(plait.Budget(0.5, score="magnitude", per_layer=True), other).sum() == 3


def test_a_layer_that_is_not_to_be_looked_at_stays_whole():
    assert plait.Budget(0.1, "columns").keep(WEIGHTS, {"w": ()})["w"].all()


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "grain": (lambda: plait.LogAlpha(of=("filters",)), "`of` must name some of 'weights', .*, got"),
    "no grain": (lambda: plait.SignalToNoise(1.0, of=()), "`of` must name some of 'weights'"),
    "text": (lambda: plait.LogAlpha("3"), "LogAlpha: `threshold` must be a number, got '3'"),
    "ratio": (lambda: plait.SignalToNoise(-1.0), "SignalToNoise: `threshold` must be at least 0, got -1.0"),
    "fraction": (lambda: plait.Budget(0.0), r"Budget: `keep_fraction` must lie in \(0, 1\], got 0.0"),
    "score": (lambda: plait.Budget(0.5, score="size"), "must be 'signal_to_noise' or 'magnitude', got 'size'"),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("build", "says"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused(build: Callable[[], Any], says: str):
    with pytest.raises(ValueError, match=says):
        build()
