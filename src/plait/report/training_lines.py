"""How quickly methods get somewhere: one line each against steps or seconds of training, a band over seeds."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from plait.report.style import SERIES, panels, styled

Lines = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""By method: steps or seconds [looks], and values [seeds, looks]."""


@styled
def training_lines(by_panel: Mapping[str, Lines], what: str, *, across: str = "step") -> Figure:
    """One panel for each group of methods, all on one logarithmic scale; `what` names the values, `across` the axis."""
    figure, (axes,) = panels(1, len(by_panel), 0.6 + 3.6 * len(by_panel), 3.2, sharey=True)
    for axis, (title, lines) in zip(axes, by_panel.items(), strict=True):
        for colour, (name, (places, values)) in zip(SERIES, lines.items(), strict=False):
            axis.plot(places, np.mean(values, axis=0), color=colour, label=name)
            axis.fill_between(places, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.2, linewidth=0)
        axis.set_title(title)
        axis.set_xlabel(across)
        axis.set_yscale("log")
    axes[0].set_ylabel(what)
    axes[0].legend(loc="lower left")
    return figure
