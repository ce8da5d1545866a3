import numpy as np

from plait.report import method_bands


def test_a_panel_for_each_method_over_the_reference():
    x = np.linspace(-1, 1, 5)
    band = (x, np.ones(5))
    figure = method_bands(x, {f"method {i}": band for i in range(4)}, (x, x), reference=("HMC", band))
    shown = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.get_title(loc="left") for axis in shown] == ["HMC", *(f"method {i}" for i in range(4))]
    # The mean, the two lines of the reference, the points.
    assert all(len(axis.lines) == 4 for axis in shown)
