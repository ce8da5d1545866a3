"""One HTML file that holds everything: text, tables and pictures. It loads nothing, and follows light and dark."""

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from plait._table import Table
from plait.report.picture import Picture

CSS = """
:root {
  color-scheme: light dark;
  --ink: #20242c; --faint: #c9ced6; --paper: #ffffff; --soft: #5b6470; --card: #f6f7f9;
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ec; --faint: #434a55; --paper: #16191e; --soft: #9aa3b0; --card: #1e2228; }
}
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .7rem; padding-bottom: .25rem; border-bottom: 1px solid var(--faint); }
h3 { font-size: 1rem; margin: 0 0 .5rem; }
p { margin: .4rem 0; max-width: 46rem; }
.soft, figcaption { color: var(--soft); }
.pictures { display: flex; flex-wrap: wrap; gap: 1.2rem; margin-bottom: 1.2rem; }
figure { box-sizing: border-box; margin: 0; padding: 1rem; background: var(--card); border-radius: 8px; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { font-size: .9rem; margin-top: .5rem; max-width: 46rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .87rem; margin: .3rem 0 1rem; }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--faint); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1.2rem; font-size: .87rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
code { font: .87em ui-monospace, monospace; }
"""

Item = str | Table | Picture | Mapping[str, str]
"""A paragraph, a table, a picture, or names with values."""


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    title: str
    items: Sequence[Item]


@dataclass(frozen=True)
class Page:
    """A report."""

    title: str
    lead: str
    """The sentence below the title."""
    sections: Sequence[Section] = field(default_factory=tuple)

    def html(self) -> str:
        """The whole file."""
        body = "".join(
            f"<section><h2>{escape(section.title)}</h2>{_elements(section.items)}</section>"
            for section in self.sections
        )
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(self.title)}</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{CSS}</style></head>'
            f'<body><main><h1>{escape(self.title)}</h1><p class="soft">{escape(self.lead)}</p>{body}</main></body>'
            "</html>\n"
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Save it."""
        Path(path).write_text(self.html(), encoding="utf-8")


def _elements(items: Sequence[Item]) -> str:
    """All items; pictures that follow each other share a line where they fit."""
    parts = []
    for is_picture, group in itertools.groupby(items, lambda item: isinstance(item, Picture)):
        content = "".join(map(_element, group))
        parts.append(f'<div class="pictures">{content}</div>' if is_picture else content)
    return "".join(parts)


def _element(item: Item) -> str:
    if isinstance(item, str):
        return f"<p>{escape(item)}</p>"
    if isinstance(item, Table):
        return item.html()
    if isinstance(item, Picture):
        caption = f"<figcaption>{escape(item.caption)}</figcaption>"
        width = item.figure.get_figwidth()
        return (
            f'<figure style="flex: 1 1 calc({width:g}in + 2rem)"><h3>{escape(item.title)}</h3>{item.svg()}{caption}'
            "</figure>"
        )
    entries = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in item.items())
    return f"<dl>{entries}</dl>"
