import numpy as np
import pytest

from plait.report import bands, predicted_and_true


def test_points_are_sorted_into_those_inside_and_outside_their_interval():
    y, mean = np.asarray([0.0, 1.0, 2.0, 9.0]), np.asarray([0.1, 1.1, 2.1, 3.0])
    figure = predicted_and_true(mean, np.ones(4), y)
    assert len(figure.axes) == 1
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["inside 75%", "outside 25%"]


def test_observed_coverage_is_that_of_the_integral_transform():
    pit = np.asarray([0.5, 0.4, 0.6, 0.99])
    figure = predicted_and_true(np.zeros(4), np.ones(4), np.arange(4.0), pit)
    observed = figure.axes[1].lines[1]
    at_half = observed.get_ydata()[np.searchsorted(observed.get_xdata(), 0.5)]
    assert at_half == 0.75


def test_many_points_are_thinned():
    figure = predicted_and_true(np.zeros(2000), np.ones(2000), np.zeros(2000))
    assert len(figure.axes[0].containers[0].lines[0].get_xdata()) == 400


def test_bands_follow_the_input_in_order():
    x = np.asarray([2.0, 0.0, 1.0])
    figure = bands(x, 10 * x, np.ones(3), np.full(3, 0.5), (x, 10 * x))
    points, mean = figure.axes[0].lines
    assert points.get_linestyle() == "None"
    np.testing.assert_allclose(mean.get_xdata(), [0, 1, 2])
    np.testing.assert_allclose(mean.get_ydata(), [0, 10, 20])
    wide, narrow = (fill.get_paths()[0].get_extents().height for fill in figure.axes[0].collections)
    assert wide - 20 == pytest.approx(2 * (narrow - 20))
