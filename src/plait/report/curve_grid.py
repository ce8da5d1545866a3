"""Curves of several methods: a column for each quantity, a row for each setting, a line for each method."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from plait.report.style import SERIES, panels, styled

Numbers = np.ndarray | Sequence[float]
Curves = Mapping[str, tuple[Numbers, Mapping[str, Numbers]]]
"""By method: epochs (or what else runs across), and values by the name of the quantity."""


@styled
def curve_grid(
    rows: Mapping[str, Curves], quantities: Mapping[str, bool], *, across: str = "epoch", log_across: bool = False
) -> Figure:
    """Quantities by name, with whether their axis is logarithmic; `across` names the other axis."""
    count = len(quantities)
    figure, axes = panels(len(rows), count, 3.3 * count, 0.4 + 2.4 * len(rows), sharex=True)
    for line, (title, curves) in zip(axes, rows.items(), strict=True):
        for axis, (name, logarithmic) in zip(line, quantities.items(), strict=True):
            for colour, (method, (epochs, values)) in zip(SERIES, curves.items(), strict=False):
                axis.plot(epochs, values[name], color=colour, label=method)
            axis.set_ylabel(name)
            if logarithmic:
                axis.set_yscale("log")
        line[0].set_title(title)
    for axis in axes[-1]:
        axis.set_xlabel(across)
        if log_across:
            axis.set_xscale("log")
    axes[0][0].legend(loc="best")
    return figure
