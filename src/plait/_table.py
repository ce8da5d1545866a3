"""A small table of text, for a terminal, a page of documentation and an HTML page alike; and rows as a CSV file."""

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Table:
    """Columns, and rows of cells."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    """So many columns are text, to the left; the others are numbers, to the right."""

    def __post_init__(self):
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a table of {len(self.columns)} columns got a row of {len(row)} cells: {list(row)}")

    def text(self) -> str:
        """Aligned, with a rule below the names of the columns."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]

        def aligned(line: Sequence[str]) -> str:
            cells = (
                cell.ljust(width) if i < self.left else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            return "  ".join(cells).rstrip()

        head, *body = map(aligned, lines)
        return "\n".join([head, "-" * max(map(len, (head, *body))), *body])

    def markdown(self) -> str:
        """With the alignment in the rule."""
        rule = ["---" if i < self.left else "---:" for i in range(len(self.columns))]
        return "\n".join(f"| {' | '.join(line)} |" for line in [self.columns, rule, *self.rows])

    def html(self) -> str:
        """An element to stand in a page."""
        head = "".join(self._cell("th", i, cell) for i, cell in enumerate(self.columns))
        body = "".join(
            "<tr>" + "".join(self._cell("td", i, cell) for i, cell in enumerate(row)) + "</tr>" for row in self.rows
        )
        return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'

    def _cell(self, tag: str, index: int, text: str) -> str:
        align = "" if index < self.left else ' class="number"'
        return f"<{tag}{align}>{escape(text)}</{tag}>"


def write_csv(path: str | os.PathLike[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """A line for each row, a column for each name in any of them."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
