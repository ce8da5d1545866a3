"""Tables with a header."""

import numpy as np
import pytest

from plait.data.csv_file import read_table


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_columns_by_name(tmp_path, separator):
    lines = [separator.join(fields) for fields in (("a", "b c", "kind"), ("1", "2.5", "x"), ("-3", "1e3", "y"))]
    path = tmp_path / "t.csv"
    # With the mark that spreadsheets put in front, and an empty line at the end.
    path.write_text("\ufeff" + "\n".join(lines) + "\n\n", encoding="utf-8")
    table = read_table(path)
    assert table.names == ("a", "b c", "kind")
    np.testing.assert_array_equal(table.numbers(("b c", "a")), [[2.5, 1.0], [1000.0, -3.0]])
    assert table.target("a").dtype.kind == "i"
    assert table.target("b c").dtype.kind == "f"
    assert table.target("kind").tolist() == ["x", "y"]


def test_quoted_fields(tmp_path):
    (tmp_path / "t.csv").write_text('name,"a, b"\n"Oslo, N",1\n')
    assert read_table(tmp_path / "t.csv").columns == {"name": ["Oslo, N"], "a, b": ["1"]}


@pytest.mark.parametrize("missing", ["", "NA", "nan", "?", "null"])
def test_missing_values_are_located(tmp_path, missing):
    (tmp_path / "t.csv").write_text(f"a,b\n1,2\n3,{missing}\n")
    table = read_table(tmp_path / "t.csv")
    for read in (lambda: table.numbers(("b",)), lambda: table.target("b")):
        with pytest.raises(ValueError, match=r"1 values of column 'b' are missing or NaN, the first in row 2"):
            read()


def test_text_among_numbers_is_located(tmp_path):
    (tmp_path / "t.csv").write_text("a,city\n1,3\n3,Oslo\n")
    with pytest.raises(ValueError, match=r"column 'city' holds text \('Oslo' in row 2\)"):
        read_table(tmp_path / "t.csv").numbers(("a", "city"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "has 0 lines"),
        (b"a,b\n", "has 1 lines"),
        (b"1,2\n3,4\n", "must name the columns"),
        (b"a,a\n3,4\n", "several columns are called 'a'"),
        (b"a,b\n3,4\n5\n", "row 2 has 1 fields, the header has 2"),
        (b"a,b\n\xff\xfe,4\n", "no readable csv"),
    ],
)
def test_broken_tables_are_refused(tmp_path, content, says):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(ValueError, match=says):
        read_table(tmp_path / "t.csv")
