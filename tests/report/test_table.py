import pytest

from plait.report import Table

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
