"""XLA's own convolutions against sums of shifted matrix products, forward and backward, on whatever device there is.

python -m plait.bench.convolutions

Whether the convolution site should call something else than XLA is decided by this. A row of filter taps is laid side
by side, so that each of the `taps` products has an inner dimension of taps x channels.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from plait._table import Table
from plait._typing import Array
from plait.bench.timing import fastest

CASES = ((256, 32, 3, 32, 5), (256, 16, 32, 64, 5), (128, 32, 16, 16, 3), (128, 8, 64, 64, 3))
"""Examples, pixels along a side, channels before and after, taps along a side."""


def by_xla(x: Array, kernel: Array) -> Array:
    """A convolution that keeps the size; [N, H, W, C] with [taps, taps, C, D]."""
    layouts = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=layouts)


def by_shifts(x: Array, kernel: Array) -> Array:
    """The same as a sum of matrix products."""
    (_, height, width, _), (taps, _, channels, _) = x.shape, kernel.shape
    before = (taps - 1) // 2
    beside = (before, taps - 1 - before)
    x = jnp.pad(x, ((0, 0), beside, beside, (0, 0)))
    rows = jnp.concatenate([x[:, :, j : j + width] for j in range(taps)], axis=-1)
    products = [rows[:, i : i + height] @ kernel[i].reshape(taps * channels, -1) for i in range(taps)]
    return sum(products[1:], start=products[0])


def measure(cases: tuple[tuple[int, int, int, int, int], ...] = CASES, *, rounds: int = 10) -> Table:
    """Seconds of shifts over seconds of XLA."""
    rows = []
    for examples, size, before, after, taps in cases:
        x = jax.random.normal(jax.random.key(0), (examples, size, size, before))
        kernel = jax.random.normal(jax.random.key(1), (taps, taps, before, after))
        programs = {function.__name__: _program(function, x, kernel) for function in (by_xla, by_shifts)}
        seconds = fastest(programs, rounds=rounds)
        what = f"{examples} x {size} x {size} x {before} to {after}, {taps} x {taps}"
        rows.append((what, f"{1e3 * seconds['by_xla']:.1f}", f"{seconds['by_shifts'] / seconds['by_xla']:.2f}"))
    return Table(("convolution", "XLA, ms", "shifts / XLA"), rows)


def _program(function: Callable[[Array, Array], Array], x: Array, kernel: Array) -> Callable[[], Any]:
    # The sine makes the backward pass depend on the outputs, as a network's does.
    gradient = jax.jit(jax.grad(lambda x, kernel: jnp.sum(jnp.sin(function(x, kernel))), argnums=(0, 1)))
    return lambda: gradient(x, kernel)


if __name__ == "__main__":
    print(measure().text())
