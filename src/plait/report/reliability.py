"""The reliability diagram: how often the most probable class is right, by how probable it was said to be.

A calibrated model lies on the diagonal; bars show the gap to it, whiskers one binomial standard error. Below, how many
examples each bin holds: a bin of three proves nothing.
"""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plait.metrics import ReliabilityCurve
from plait.report.style import BLUE, GREY, INK, ORANGE, panels, styled


@styled
def reliability_diagram(curves: Mapping[str, ReliabilityCurve]) -> Figure:
    """One column for each curve, under its name."""
    count = len(curves)
    options = {"sharex": True, "sharey": "row", "height_ratios": (3, 1)}
    figure, (diagrams, counts) = panels(2, count, max(3.4, 2.5 * count), 3.9, **options)
    for diagram, below, (name, curve) in zip(diagrams, counts, curves.items(), strict=True):
        _draw_gaps(diagram, curve)
        diagram.set_title(name)
        below.bar(curve.edges[:-1], curve.count, np.diff(curve.edges), align="edge", color=GREY)
        below.set_xlabel("confidence")
        below.set_yscale("symlog", linthresh=1)
        below.set_ylim(bottom=0)
        below.grid(axis="x", visible=False)
    diagrams[0].set_ylabel("accuracy")
    counts[0].set_ylabel("examples")
    return figure


def _draw_gaps(axis: Axes, curve: ReliabilityCurve) -> None:
    full = curve.count > 0
    confidence, accuracy, count = curve.confidence[full], curve.accuracy[full], curve.count[full]
    width = 0.8 * np.diff(curve.edges)[full]
    axis.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    axis.bar(confidence, accuracy - confidence, width, bottom=confidence, color=ORANGE, alpha=0.3, linewidth=0)
    error = np.sqrt(accuracy * (1 - accuracy) / count)
    axis.errorbar(confidence, accuracy, error, color=BLUE, marker="o", linestyle="none", elinewidth=1)
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1.03)
    text = f"ECE {curve.expected_calibration_error:.3f}\n{curve.count.sum():,} examples"
    axis.text(0.04, 0.96, text, transform=axis.transAxes, va="top", fontsize=8)
