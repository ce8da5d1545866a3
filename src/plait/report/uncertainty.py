"""Histograms of an uncertainty for groups of inputs: those predicted right, those predicted wrong, foreign ones.

Each group has a row of its own and is normalised by itself, since the wrong ones are few.
"""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from plait.report.style import BLUE, GREEN, INK, ORANGE, PURPLE, panels, styled

COLOURS = {"right": BLUE, "wrong": ORANGE, "foreign": PURPLE}


@styled
def uncertainty_histograms(
    groups: Mapping[str, Mapping[str, np.ndarray]], what: str, *, largest: float | None = None, bins: int = 30
) -> Figure:
    """One column for each model, one row for each of its groups; `what` names the uncertainty.

    Args:
        groups: for each model the values of each group; a model alone may be called "".
        what: the label of the horizontal axis.
        largest: its end; by default the largest value.
        bins: how many.
    """
    rows = list(dict.fromkeys(name for model in groups.values() for name in model))
    values = [values for model in groups.values() for values in model.values() if len(values)]
    end = max(float(np.max(value)) for value in values) if largest is None else largest
    edges = np.linspace(0, end, bins + 1)
    width, height = max(4.6, 2.5 * len(groups)), 0.5 + 0.85 * len(rows)
    figure, axes = panels(len(rows), len(groups), width, height, sharex=True, sharey=True)
    for column, (model, found) in enumerate(groups.items()):
        for row, group in enumerate(rows):
            axis, scores = axes[row][column], found.get(group, np.zeros(0))
            colour = COLOURS.get(group, GREEN)
            axis.grid(axis="y", visible=False)
            axis.set_yticks([])
            axis.spines["left"].set_visible(False)
            label = f"{group}  {len(scores):,}"
            axis.text(0.99, 0.9, label, transform=axis.transAxes, ha="right", va="top", fontsize=8)
            if len(scores):
                share = np.histogram(np.minimum(scores, end), edges)[0] / len(scores)
                # By the root: a few per cent far out matter and would not be seen beside a peak.
                axis.bar(edges[:-1], np.sqrt(share), np.diff(edges), align="edge", color=colour, linewidth=0)
                axis.axvline(float(np.median(scores)), color=INK, linewidth=1)
        axes[0][column].set_title(model)
        axes[-1][column].set_xlabel(what)
    return figure
