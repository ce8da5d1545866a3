"""Rows as a CSV file."""

import csv

from plait._table import write_csv


def test_a_column_for_each_name_in_any_row(tmp_path):
    write_csv(tmp_path / "a.csv", [{"a": 1, "b": "x, y"}, {"b": 2, "c": 0.5}])
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows == [{"a": "1", "b": "x, y", "c": ""}, {"a": "", "b": "2", "c": "0.5"}]
