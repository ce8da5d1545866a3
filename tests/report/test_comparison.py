from plait.metrics import Estimate
from plait.report import comparison


def test_each_metric_has_a_panel_with_a_dot_for_each_method():
    metrics = {
        "NLL": {"tied": Estimate(0.1, 0.01), "point": Estimate(0.3, 0.02)},
        "AUROC": {"tied": Estimate(0.9, 0.01)},
    }
    figure = comparison(metrics)
    nll, auroc = figure.axes
    assert nll.get_title(loc="left") == "NLL"
    assert [container.lines[0].get_xdata()[0] for container in nll.containers] == [0.1, 0.3]
    assert len(auroc.containers) == 1
    assert [label.get_text() for label in nll.get_yticklabels()] == ["tied", "point"]
