"""A figure with what it shows in words, as SVG inside a page or as a file of its own."""

import io
import os
import re
from dataclasses import dataclass
from html import escape

from matplotlib.figure import Figure

from plait.report.style import FAINT, INK, PAPER, styled


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, its title and the sentences below it."""

    figure: Figure
    title: str
    caption: str

    @styled
    def svg(self) -> str:
        """An element to stand in a page, whose variables --ink, --faint and --paper colour it."""
        stream = io.StringIO()
        self.figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
        element = re.sub(r"^.*?(?=<svg)", "", stream.getvalue(), flags=re.DOTALL)
        element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
        # Its own size in points would not follow the width of the window.
        element = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", element, count=1)
        element = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", element, count=1)
        for colour, variable in ((INK, "--ink"), (FAINT, "--faint"), (PAPER, "--paper")):
            element = element.replace(colour, f"var({variable})")
        width = self.figure.get_figwidth()
        return element.replace(
            "<svg", f'<svg role="img" aria-label="{escape(self.title)}" style="max-width: {width:g}in"', 1
        )

    @styled
    def save(self, path: str | os.PathLike[str]) -> None:
        """A file of the kind that its name ends in (.png, .svg, .pdf), on white."""
        self.figure.savefig(path, dpi=160, facecolor="white")
