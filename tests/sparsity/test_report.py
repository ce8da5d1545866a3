"""The report as numbers and as text."""

from plait.sparsity import LayerReport, Report

LAYERS = (LayerReport("a", 1000, 10, 100, 5, 10, 2), LayerReport("head", 20, 20, 2, 2, 10, 10, "stays"))


def test_totals_and_table():
    report = Report(LAYERS)
    assert (report.weights, report.weights_left) == (1020, 30)
    header, first, second, total = str(report).splitlines()
    assert header.split()[:4] == ["weight", "left", "of", "%"]
    assert first.split() == ["a", "10", "1,000", "1.0", "5", "100", "2", "10"]
    assert second.split() == ["head", "20", "20", "100.0", "2", "2", "10", "10", "stays"]
    assert total == "30 of 1,020 weights left"


def test_bytes_are_named_where_something_was_taken_out():
    assert str(Report(LAYERS, 5000, 300)).endswith("30 of 1,020 weights left, 300 of 5,000 bytes")
