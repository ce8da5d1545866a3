"""What paper 002 reports of sparse learning (MATH 4.3): its figures have curves without numbers, its tables none of
accuracy."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kept:
    """A row of a table."""

    left: int
    whole: int
    dropped: tuple[int, ...]
    """Per cent of each convolution."""


def kept(left: int, whole: int, dropped: str) -> Kept:
    """With the percentages as printed."""
    return Kept(left, whole, tuple(map(int, dropped.split("-"))))


@dataclass(frozen=True)
class Targets:
    """Of one protocol; what the paper does not report is empty."""

    by_posterior: Mapping[str, Kept] = field(default_factory=dict)
    """Weights under group sparsity (table 1)."""
    by_rule: Mapping[str, Kept] = field(default_factory=dict)
    """Weights, rows or columns left under each rule, of a matrix normal (table 2)."""
    said: tuple[str, ...] = ()
    """In its text."""


TABLE_1 = {
    "DIAG": kept(18_610, 62_270, "30-61-40-52-49-35-57-69-84-80-89-90"),
    "MN": kept(27_764, 62_270, "31-41-29-36-62-33-21-54-64-92-94-29"),
    "MN+Diag": kept(19_936, 62_270, "37-65-32-18-51-44-48-74-79-84-80-88"),
}
TABLE_2 = {
    "free": kept(120_884, 246_940, "22-50-44-32-33-29-24-42-56-74-91-90"),
    "rows": kept(3_120, 4_527, "0-18-19-1-4-1-1-4-32-59-91-85"),
    "columns": kept(413, 540, "0-20-0-7-7-0-7-24-40-65-85-0"),
}
