"""Tables as text, and rows as a CSV file."""

import csv

import pytest

from plait._table import Table, write_csv

TABLE = Table(("method", "NLL"), [("tied", "0.1"), ("a < b", "12.25")])


def test_text_is_aligned_and_ruled():
    assert TABLE.text() == "method    NLL\n-------------\ntied      0.1\na < b   12.25"


def test_markdown_says_the_alignment():
    assert TABLE.markdown().splitlines()[:2] == ["| method | NLL |", "| --- | ---: |"]


def test_html_escapes_and_puts_numbers_to_the_right():
    html = TABLE.html()
    assert "<td>a &lt; b</td>" in html
    assert '<td class="number">12.25</td>' in html


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"2 columns got a row of 1 cells"):
        Table(("a", "b"), [("x",)])


def test_a_column_for_each_name_in_any_row(tmp_path):
    write_csv(tmp_path / "a.csv", [{"a": 1, "b": "x, y"}, {"b": 2, "c": 0.5}])
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows == [{"a": "1", "b": "x, y", "c": ""}, {"a": "", "b": "2", "c": "0.5"}]
