"""Metrics against epochs or seconds: a panel for each metric, a line for each method."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from plait.report.style import SERIES, panels, styled

TITLES = {"nll": "NLL", "ece": "ECE", "accuracy": "accuracy"}


@styled
def epoch_curves(metrics: Mapping[str, Mapping[str, tuple[np.ndarray, np.ndarray]]], along: str) -> Figure:
    """By metric and method: places and values; `along` names the places."""
    figure, (axes,) = panels(1, len(metrics), 2.9 * len(metrics), 2.9)
    for axis, (name, lines) in zip(axes, metrics.items(), strict=True):
        for colour, (method, (places, values)) in zip(SERIES, lines.items(), strict=False):
            axis.plot(places, values, color=colour, label=method, marker="o", markersize=2.5)
        axis.set_title(TITLES.get(name, name))
        axis.set_xlabel(along)
        if name == "nll":
            axis.set_yscale("log")
    axes[0].legend(loc="upper right")
    return figure
