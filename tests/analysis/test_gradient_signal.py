"""Streamed moments and readings equal the direct ones, in any compiled program, and gradients pass unchanged."""

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from plait.analysis import Moments, read_signal, signal_to_noise
from plait.analysis.gradient_signal import SignalState, ratios


def direct(gradients: np.ndarray) -> np.ndarray:
    """[readings, ...] of gradients [window, ...], by their definitions."""
    g = gradients.astype(np.float64)
    s = g**2
    return np.stack(
        [g.mean(0) ** 2 / g.var(0, ddof=1), s.mean(0) / s.var(0, ddof=1), s.mean(0) ** 2 / s.var(0, ddof=1)]
    )


@hypothesis.given(
    hnp.arrays(np.float32, st.tuples(st.integers(2, 8), st.just(3)), elements=st.floats(-100, 100, width=32))
)
@hypothesis.settings(max_examples=25, deadline=None)
def test_running_moments_are_those_of_all_values(values: np.ndarray):
    moments = Moments.zero({"a": jnp.zeros(3)})
    for value in values:
        moments = moments.update({"a": jnp.asarray(value)})
    scale = np.abs(values).max() + 1e-6
    np.testing.assert_allclose(moments.mean["a"], values.mean(0), atol=1e-5 * scale)
    np.testing.assert_allclose(moments.variance["a"], values.var(0, ddof=1), atol=1e-5 * scale**2)
    assert moments.count == len(values)


def run(transformation: optax.GradientTransformation, gradients: dict[str, np.ndarray]) -> SignalState:
    """All steps as one scan."""
    state = transformation.init(jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), gradients))

    def step(state: SignalState, gradient: dict[str, jax.Array]) -> tuple[SignalState, dict[str, jax.Array]]:
        passed, state = transformation.update(gradient, state)
        return state, passed

    state, passed = jax.jit(lambda state: jax.lax.scan(step, state, jax.tree.map(jnp.asarray, gradients)))(state)
    jax.tree.map(np.testing.assert_array_equal, passed, gradients)
    return state


def some_gradients(seed: int, steps: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=(4, 5))
    return {
        "matrix": (signal + rng.normal(size=(steps, 4, 5))).astype(np.float32),
        "vector": (1e-3 * rng.normal(size=(steps, 6))).astype(np.float32),
    }


def test_the_readings_are_those_of_the_windows(seed: int):
    gradients = some_gradients(seed, 25)
    signal = read_signal(run(signal_to_noise(at=(7, 12, 25), window=5), gradients))
    assert (signal.steps, signal.window, signal.levels) == ((7, 12, 25), 5, (0.1, 0.5, 0.9))
    for name, values in gradients.items():
        row = signal.row("", name)
        for index, step in enumerate((7, 12, 25)):
            expected = direct(values[step - 5 : step]).reshape(3, -1)
            np.testing.assert_allclose(row.mean[index], expected.mean(1), rtol=2e-3)
            np.testing.assert_allclose(
                row.quantiles[index], np.quantile(expected, (0.1, 0.5, 0.9), axis=1).T, rtol=2e-3
            )
            assert row.constant[index] == 0


def test_many_runs_side_by_side_are_recorded_each_by_itself(seed: int):
    transformation = signal_to_noise(at=(4, 8), window=4)
    runs = [some_gradients(seed + index, 8) for index in range(3)]
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *runs)

    def whole(gradients: dict[str, jax.Array]) -> SignalState:
        state = transformation.init(jax.tree.map(lambda leaf: leaf[0], gradients))
        return jax.lax.scan(lambda state, g: (transformation.update(g, state)[1], None), state, gradients)[0]

    together = read_signal(jax.vmap(whole)(jax.tree.map(jnp.asarray, stacked)))
    assert together.replicas == 3
    for index, each in enumerate(runs):
        alone = read_signal(run(transformation, each))
        for one, other in zip(together.rows, alone.rows, strict=True):
            np.testing.assert_allclose(one.mean[index], other.mean, rtol=1e-4)
            np.testing.assert_allclose(one.quantiles[index], other.quantiles, rtol=1e-4)


def test_what_does_not_vary_has_no_ratio_and_is_counted(seed: int):
    gradients = some_gradients(seed, 4)
    gradients["matrix"][:, 0] = 0.25
    gradients["vector"][:] = 0
    signal = read_signal(run(signal_to_noise(at=(4,), window=4), gradients))
    row = signal.row("", "matrix")
    assert row.constant[0] == pytest.approx(0.25)
    np.testing.assert_allclose(row.mean[0], direct(gradients["matrix"][:, 1:]).reshape(3, -1).mean(1), rtol=2e-3)
    empty = signal.row("", "vector")
    assert empty.constant[0] == 1
    assert np.isnan(empty.mean).all()


def test_the_medians_are_those_of_the_errata(key: jax.Array):
    # MATH 1.4 [V2]: g = m + N(0, 1), window 10.
    expected = {0.0: (0.05, 0.75), 0.3: (0.11, 0.69), 1.0: (1.07, 0.44), 3.0: (9.7, 0.30)}
    for signal, (usual, printed) in expected.items():
        draws = signal + jax.random.normal(key, (10, 20_000))
        gradient = square = Moments.zero(draws[0])
        for draw in draws:
            gradient, square = gradient.update(draw), square.update(jnp.square(draw))
        found = jnp.median(ratios(gradient, square), axis=1)
        np.testing.assert_allclose(found[:2], (usual, printed), rtol=0.05, atol=0.005)


def test_only_the_printed_reading_has_a_unit(seed: int):
    gradients = some_gradients(seed, 6)
    scaled = jax.tree.map(lambda leaf: np.float32(0.01) * leaf, gradients)
    one, other = (read_signal(run(signal_to_noise(at=(6,), window=6), g)) for g in (gradients, scaled))
    for reading, factor in (("usual", 1), ("dimensionless", 1), ("printed", 1e4)):
        np.testing.assert_allclose(
            other.mean("", "matrix", reading), factor * one.mean("", "matrix", reading), rtol=1e-2
        )
    np.testing.assert_allclose(one.mean("", "matrix", loss_scale=0.01), other.mean("", "matrix"), rtol=1e-2)
    np.testing.assert_allclose(one.mean("", "matrix", "usual", loss_scale=9.0), one.mean("", "matrix", "usual"))


def test_half_precision_is_summed_in_single():
    state = signal_to_noise(at=(3,), window=3).init({"a": jnp.zeros(4, jnp.bfloat16)})
    assert jax.tree.leaves(state.gradient.mean)[0].dtype == jnp.float32


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"at": (5,), "window": 1}, "`window` is a number of gradients that has a variance, at least 2, got 1"),
        ({"at": ()}, "`at` names the steps to record, integers, got"),
        ({"at": (1.5,)}, "`at` names the steps to record, integers, got"),
        ({"at": (5,), "window": 6}, "overlap, or begin before the first step"),
        ({"at": (10, 15), "window": 6}, "overlap, or begin before the first step"),
        ({"at": (20, 10), "window": 5}, "overlap, or begin before the first step"),
        ({"at": (10,), "levels": (0.5, 2.0)}, r"`levels` are those of quantiles, in \[0, 1\], got"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_windows_that_make_no_sense_are_refused(options, says):
    with pytest.raises(ValueError, match=says):
        signal_to_noise(**options)
