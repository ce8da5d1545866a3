import re

import pytest

from plait.metrics import Estimate
from plait.recipes.run_report import metrics_table


def headings(html):
    return re.findall(r"<h[23]>(.*?)</h", html)


def test_a_report_of_classes_is_whole_and_loads_nothing(digits_run):
    html = (digits_run / "report.html").read_text()
    shown = headings(html)
    assert shown[0] == "How good it is"
    assert {"Reliability", "Uncertainty", "Examples", "Losses", "Weights", "Options"} <= set(shown)
    assert html.count("<svg") == 5
    assert "360 test examples after 1,257 training examples, 4 weight samples" in html
    assert "layers.0.weight" in html
    assert "learning rate" in html
    assert not re.search(r"<(script|link|img|iframe)\b|\bsrc=|url\(http|@import", html)
    # Pictures of test digits stand in the page itself.
    assert all(address.startswith(("#", "data:")) for address in re.findall(r'href="([^"]*)"', html))


def test_a_report_of_numbers_shows_bands_where_there_is_one_input(line_run):
    shown = headings((line_run / "report.html").read_text())
    assert {"Predicted and true", "Along the input", "Losses"} <= set(shown)
    assert "Reliability" not in shown


def test_a_report_of_two_classes_has_their_reliability(kinds_run):
    shown = headings((kinds_run / "report.html").read_text())
    assert "Reliability" in shown
    assert "Examples" not in shown


@pytest.mark.parametrize("over_samples", [None, {"nll": 0.0123}])
def test_metrics_have_their_errors(over_samples):
    table = metrics_table({"nll": Estimate(0.51234, 0.03), "coverage_90": Estimate(0.9, 0.01)}, over_samples)
    assert table.rows[0][:3] == ("NLL", "0.51", "0.03")
    assert table.rows[1][0] == "coverage 90 %"
    assert table.columns[3:] == (("over samples",) if over_samples else ())
    assert table.rows[0][3:] == (("0.012",) if over_samples else ())
