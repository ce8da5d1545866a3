"""Spectra of posterior means and standard deviations: explained variance by singular value (paper 001, figure 5)."""

import math

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from plait.analysis import Spectra
from plait.report.style import BLUE, ORANGE, panels, styled

STYLES = {"means": (BLUE, "o"), "stds": (ORANGE, "s")}
NAMES = {"means": "posterior means", "stds": "posterior standard deviations"}
LOWEST = 1e-6
"""Shares below this are rounding, or might as well be."""


@styled
def spectra_plot(spectra: Spectra, *, components: int = 20, columns: int = 3) -> Figure:
    """One panel for each weight, the first components of each spectrum."""
    weights = spectra.weights
    columns = min(columns, len(weights))
    rows = math.ceil(len(weights) / columns)
    width, height = max(4.2, 2.9 * columns), 0.4 + 2.3 * rows
    figure, axes = panels(rows, columns, width, height, sharex=True, sharey=True)
    flat = [axis for line in axes for axis in line]
    for axis, weight in zip(flat, weights, strict=False):
        for name, spectrum in weight.by_name.items():
            shares = spectrum.explained[:components]
            colour, marker = STYLES[name]
            axis.plot(
                np.arange(1, len(shares) + 1), np.where(shares < LOWEST, np.nan, shares), color=colour, marker=marker
            )
        axis.set_title(f"{weight.path}  {weight.shape[0]} × {weight.shape[1]}", fontsize=8.5)
        axis.set_yscale("log")
    for axis in flat[len(weights) :]:
        axis.set_visible(False)
    for line in axes:
        line[0].set_ylabel("explained variance")
    for index in range(columns):
        lowest = max(row for row in range(rows) if row * columns + index < len(weights))
        axes[lowest][index].set_xlabel("singular value")
        axes[lowest][index].tick_params(labelbottom=True)
    flat[0].set_ylim(LOWEST, 1.5)
    flat[0].xaxis.set_major_locator(MaxNLocator(integer=True))
    present = dict.fromkeys(name for weight in weights for name in weight.by_name)
    handles = [flat[0].plot([], [], color=STYLES[n][0], marker=STYLES[n][1], label=NAMES[n])[0] for n in present]
    figure.legend(handles=handles, loc="outside upper right", ncols=2)
    return figure
