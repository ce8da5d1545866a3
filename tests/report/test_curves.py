import numpy as np

from plait.report.curves import Curve, curves


def test_a_row_for_each_set_with_both_clocks():
    steps = np.arange(1, 41)
    lines = {"one": Curve(steps, steps / 10, 1e6 / steps**4), "two": Curve(steps, steps / 5, 2.0 / steps)}
    figure = curves({"yacht": lines, "boston": {"two": lines["two"]}}, "loss")
    assert len(figure.axes) == 4
    left, right = figure.axes[:2]
    assert left.get_title(loc="left") == "yacht"
    np.testing.assert_allclose(right.lines[1].get_xdata(), steps / 5)
    # The start is cut off.
    assert left.get_ylim()[1] < 1e6
    # A method looks the same everywhere.
    assert figure.axes[2].lines[0].get_color() == left.lines[1].get_color()
