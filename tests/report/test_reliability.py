import numpy as np

from plait.report import reliability_diagram


def test_points_are_the_bins_that_hold_examples(curve):
    figure = reliability_diagram({"one": curve, "two": curve})
    first, second, counts, _ = figure.axes
    full = curve.count > 0
    points = first.containers[1].lines[0]
    np.testing.assert_allclose(points.get_xdata(), curve.confidence[full])
    np.testing.assert_allclose(points.get_ydata(), curve.accuracy[full])
    assert [bar.get_height() for bar in counts.containers[0]] == curve.count.tolist()
    assert second.get_title(loc="left") == "two"
    assert f"ECE {curve.expected_calibration_error:.3f}" in first.texts[0].get_text()
