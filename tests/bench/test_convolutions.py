import jax
import numpy as np
import pytest

from plait.bench.convolutions import by_shifts, by_xla, measure


@pytest.mark.parametrize("taps", [2, 3])
def test_shifts_compute_the_convolution(key, taps):
    x = jax.random.normal(key, (2, 5, 4, 3))
    kernel = jax.random.normal(key, (taps, taps, 3, 2))
    np.testing.assert_allclose(by_shifts(x, kernel), by_xla(x, kernel), rtol=1e-4, atol=1e-4)


def test_each_case_has_a_row():
    table = measure(((1, 4, 1, 2, 3),), rounds=1)
    assert [row[0] for row in table.rows] == ["1 x 4 x 4 x 1 to 2, 3 x 3"]
