"""A csv file with a header, column by column."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from plait.data.suggest import suggestion

MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of text by name."""

    path: Path
    columns: dict[str, list[str]]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(self.columns)

    @property
    def listing(self) -> str:
        """The columns, for a message."""
        return ", ".join(repr(name) for name in self.columns)

    def check_column(self, name: str) -> None:
        """Refuse a column that is not there."""
        if name not in self.columns:
            hint = suggestion(name, self.columns)
            raise ValueError(f"{self.path} has no column {name!r}{hint}; there are {self.listing}")

    def numbers(self, names: tuple[str, ...]) -> np.ndarray:
        """Columns of numbers, [rows, columns]."""
        return np.stack([self._numeric(name) for name in names], axis=1)

    def target(self, name: str) -> np.ndarray:
        """A column as whole numbers, real numbers or text, the first that it can be."""
        values = self.columns[name]
        self._refuse_missing(name)
        for kind in (int, float):
            try:
                return np.asarray([kind(value) for value in values])
            except (ValueError, OverflowError):
                continue
        return np.asarray(values)

    def _numeric(self, name: str) -> np.ndarray:
        self._refuse_missing(name)
        values = self.columns[name]
        try:
            return np.asarray(values, np.float64)
        except ValueError:
            row = next(row for row, value in enumerate(values) if not _is_number(value))
            raise ValueError(
                f"{self.path}: column {name!r} holds text ({values[row]!r} in row {row + 1}): encode it as numbers, or "
                "leave it out with `features`"
            ) from None

    def _refuse_missing(self, name: str) -> None:
        missing = [row for row, value in enumerate(self.columns[name]) if value.strip().lower() in MISSING]
        if missing:
            raise ValueError(
                f"{self.path}: {len(missing)} values of column {name!r} are missing or NaN, the first in row "
                f"{missing[0] + 1}: remove or impute them"
            )


def read_table(path: Path) -> Table:
    """The table in a file; its first line names the columns, which commas, semicolons or tabs separate."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            file.seek(0)
            separator = max(",;\t", key=first.count)
            rows = [[field.strip() for field in row] for row in csv.reader(file, delimiter=separator) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is no readable csv file: {error}") from error
    if len(rows) < 2:
        raise ValueError(f"{path} needs a line of column names and at least one row, it has {len(rows)} lines")
    header, *body = rows
    if all(_is_number(name) for name in header):
        raise ValueError(f"{path}: the first line must name the columns, but it holds numbers: {', '.join(header)}")
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise ValueError(f"{path}: several columns are called {', '.join(map(repr, twice))}; give each its own name")
    for row, fields in enumerate(body):
        if len(fields) != len(header):
            raise ValueError(f"{path}: row {row + 1} has {len(fields)} fields, the header has {len(header)}")
    return Table(path, {name: list(column) for name, column in zip(header, zip(*body, strict=True), strict=True)})


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
