import numpy as np

from plait.report import epoch_curves


def test_a_panel_for_each_metric_and_a_line_for_each_method():
    places = np.arange(1, 4)
    lines = {"Adam": (places, places / 4), "noisy": (places, places / 5)}
    figure = epoch_curves({"nll": lines, "accuracy": lines}, "epoch")
    first, second = figure.axes
    assert (first.get_title(loc="left"), second.get_title(loc="left")) == ("NLL", "accuracy")
    assert first.get_yscale() == "log"
    assert [line.get_label() for line in second.lines] == ["Adam", "noisy"]
    assert second.get_xlabel() == "epoch"
