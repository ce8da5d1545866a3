"""A box for each method at each severity."""

import numpy as np

from plait.report import severity_boxes


def test_every_method_has_a_box_at_every_severity():
    values = {0: np.array([0.1])} | {s: np.linspace(0.1, 0.2 * s, 4) for s in range(1, 4)}
    methods = {f"method {index}": values for index in range(7)}
    figure = severity_boxes({"NLL": methods, "accuracy": methods})
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["NLL", "accuracy"]
    assert len(figure.axes[0].patches) == 7 * 4
    assert [label.get_text() for label in figure.axes[1].get_xticklabels()] == ["clean", "1", "2", "3"]
    assert len(figure.axes[0].get_legend().get_texts()) == 7
