"""What happened in training, a row for each epoch.

A column is an array [rows], or [rows, replicas] where several models were trained at once.
"""

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from plait._table import write_csv

Row = dict[str, Any]
"""Numbers by name; a list of them for each replica."""


class History:
    """The table of a training run: `history["nll"]` is a column, `len(history)` the number of rows."""

    def __init__(self, rows: list[Row] | None = None):
        self.rows = [] if rows is None else rows

    @property
    def columns(self) -> list[str]:
        """Names of all columns, in the order of their first row."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def __getitem__(self, column: str) -> np.ndarray:
        if column not in self.columns:
            raise KeyError(f"the history has no column {column!r}; it has {', '.join(self.columns) or 'none'}")
        width = max(np.size(row.get(column, ())) for row in self.rows)
        empty = (
            math.nan if width == 1 and not any(np.ndim(row.get(column, 0)) for row in self.rows) else [math.nan] * width
        )
        return np.asarray([row.get(column, empty) for row in self.rows])

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """One line for each row, or for each row and replica."""
        write_csv(path, [line for row in self.rows for line in _by_replica(row)])

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """A list of rows; numbers that are not finite become null."""
        Path(path).write_text(json.dumps([{name: _plain(value) for name, value in row.items()} for row in self.rows]))

    def __str__(self) -> str:
        """The last rows, means over replicas, as aligned text."""
        shown = self.rows[-SHOWN:]
        if not shown:
            return "no epochs yet"
        names = self.columns
        cells = [[_cell(row[name]) if name in row else "" for name in names] for row in shown]
        widths = [max(len(line[i]) for line in [names, *cells]) for i in range(len(names))]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in [names, *cells]
        ]
        hidden = len(self.rows) - len(shown)
        return "\n".join(lines + ([f"({hidden} earlier rows)"] if hidden else []))

    def __repr__(self) -> str:
        return f"<History: {len(self.rows)} rows of {', '.join(self.columns)}>"


SHOWN = 20
"""Rows that `str` shows."""


def _by_replica(row: Mapping[str, Any]) -> list[Row]:
    count = max((np.size(value) for value in row.values() if np.ndim(value)), default=None)
    if count is None:
        return [dict(row)]
    return [
        {"replica": index} | {name: value[index] if np.ndim(value) else value for name, value in row.items()}
        for index in range(count)
    ]


def _plain(value: Any) -> Any:
    if np.ndim(value):
        return [_plain(entry) for entry in value]
    return value if not isinstance(value, float) or math.isfinite(value) else None


def _cell(value: Any) -> str:
    if np.ndim(value):
        finite = [entry for entry in value if math.isfinite(entry)]
        value = float(np.mean(finite)) if finite else math.nan
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}"
