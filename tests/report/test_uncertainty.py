import numpy as np

from plait.report import uncertainty_histograms


def test_each_group_has_a_row_with_its_size_and_median():
    groups = {"right": np.asarray([0.1, 0.2, 0.3]), "wrong": np.asarray([1.0, 2.0]), "foreign": np.zeros(0)}
    figure = uncertainty_histograms({"a": groups}, "entropy")
    assert [axis.texts[0].get_text() for axis in figure.axes] == ["right  3", "wrong  2", "foreign  0"]
    assert figure.axes[0].lines[0].get_xdata()[0] == 0.2
    assert figure.axes[1].lines[0].get_xdata()[0] == 1.5
    assert not figure.axes[2].lines
    assert figure.axes[-1].get_xlabel() == "entropy"


def test_bars_are_the_roots_of_shares_and_the_end_gathers_the_rest():
    figure = uncertainty_histograms({"": {"right": np.asarray([0.05, 0.15, 0.15, 9.0])}}, "u", largest=0.2, bins=2)
    heights = [bar.get_height() for bar in figure.axes[0].containers[0]]
    np.testing.assert_allclose(heights, np.sqrt([0.25, 0.75]))


def test_models_stand_side_by_side():
    groups = {"right": np.ones(2)}
    figure = uncertainty_histograms({"a": groups, "b": groups}, "u")
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["a", "b"]
