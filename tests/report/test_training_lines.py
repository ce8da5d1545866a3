import numpy as np

from plait.report import training_lines


def test_each_method_is_a_line_with_a_band_over_seeds():
    steps = np.array([10, 20, 30])
    values = np.array([[3.0, 2.0, 1.0], [5.0, 2.0, 3.0]])
    figure = training_lines({"one": {"full": (steps, values), "tied": (steps, values / 2)}, "two": {}}, "loss")
    first, second = figure.axes
    assert [text.get_text() for text in first.get_legend().get_texts()] == ["full", "tied"]
    np.testing.assert_allclose(first.lines[0].get_ydata(), [4, 2, 2])
    assert len(first.collections) == 2
    assert first.get_yscale() == "log"
    assert second.get_title(loc="left") == "two"
