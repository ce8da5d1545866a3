"""How every picture looks. Series differ by hue and by lightness, so that no kind of colour blindness merges them.

Figures are made without pyplot: there is no global state, and nothing needs a screen.
"""

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, FAINT, PAPER = "#20242c", "#c9ced6", "#fffffe"
"""Text and axes; grid lines; background. A page replaces the three by its own, light or dark."""

BLUE, ORANGE, GREEN, PURPLE, OCHRE, GREY = "#2f7fc1", "#d5632a", "#1f9e77", "#a866b0", "#b98d16", "#7a828e"
SERIES = (BLUE, ORANGE, GREEN, PURPLE, OCHRE, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P")

STYLE: dict[Any, Any] = {
    "figure.facecolor": PAPER,
    "figure.dpi": 110,
    "axes.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.linewidth": 0.8,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": cycler(color=SERIES),
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "text.color": INK,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "savefig.facecolor": "none",
    "svg.fonttype": "path",
    # The same picture is the same file.
    "svg.hashsalt": "plait",
}

P = ParamSpec("P")
T = TypeVar("T")


def styled(draw: Callable[P, T]) -> Callable[P, T]:
    """The function with the settings above while it runs."""

    @functools.wraps(draw)
    def in_style(*args: P.args, **kwargs: P.kwargs) -> T:
        with mpl.rc_context(STYLE):
            return draw(*args, **kwargs)

    return in_style


def panels(rows: int, columns: int, width: float, height: float, **options: Any) -> tuple[Figure, list[list[Axes]]]:
    """A figure of the given size in inches, and its axes by row and column."""
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, [list(row) for row in axes]
