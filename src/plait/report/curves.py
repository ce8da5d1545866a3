"""How methods train on several data sets: a row for each set, by iteration on the left and by second on the right."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from plait.report.style import SERIES, panels, styled

LINES = ("-", "--", ":")


class Curve(NamedTuple):
    """One line, by either clock."""

    steps: np.ndarray
    seconds: np.ndarray
    values: np.ndarray


@styled
def curves(by_set: Mapping[str, Mapping[str, Curve]], what: str) -> Figure:
    """By set and method; `what` names the values."""
    figure, rows = panels(len(by_set), 2, 8.2, 0.5 + 2.3 * len(by_set), sharey="row")
    methods = list(dict.fromkeys(name for lines in by_set.values() for name in lines))
    for (left, right), (title, lines) in zip(rows, by_set.items(), strict=True):
        for name, curve in lines.items():
            index = methods.index(name)
            look: dict[str, Any] = {
                "color": SERIES[index % len(SERIES)],
                "linestyle": LINES[index // len(SERIES) % len(LINES)],
            }
            left.plot(curve.steps, curve.values, label=name, **look)
            right.plot(curve.seconds, curve.values, **look)
        # What the first steps were like would hide all that follows.
        settled = np.concatenate([curve.values[len(curve.values) // 20 :] for curve in lines.values()])
        low, high = np.nanmin(settled), np.nanmax(settled)
        if low < high:
            left.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        left.set_title(title)
        left.set_ylabel(what)
    rows[0][0].legend(loc="upper right")
    rows[-1][0].set_xlabel("step")
    rows[-1][1].set_xlabel("seconds")
    return figure
