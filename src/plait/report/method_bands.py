"""Mean and 90 % band of functions along one input, a panel for each method over the same reference."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from plait.report.regression import QUANTILE
from plait.report.style import BLUE, GREY, INK, panels, styled

Band = tuple[np.ndarray, np.ndarray]
"""Mean and standard deviation."""


@styled
def method_bands(
    x: np.ndarray,
    by_method: Mapping[str, Band],
    points: tuple[np.ndarray, np.ndarray],
    *,
    reference: tuple[str, Band],
    columns: int = 4,
) -> Figure:
    """Bands of functions, at the rising inputs `x`; the reference is the dashed pair of lines in every panel."""
    name, (true_mean, true_std) = reference
    shown = {name: reference[1], **by_method}
    rows = -(-len(shown) // columns)
    figure, axes = panels(rows, columns, 2.3 * columns, 0.3 + 2.0 * rows, sharex=True, sharey=True)
    flat = [axis for row in axes for axis in row]
    span = np.concatenate([points[1], true_mean - 1.3 * QUANTILE * true_std, true_mean + 1.3 * QUANTILE * true_std])
    for axis, (method, (mean, std)) in zip(flat, shown.items(), strict=False):
        axis.fill_between(x, mean - QUANTILE * std, mean + QUANTILE * std, color=BLUE, alpha=0.3, linewidth=0)
        axis.plot(x, mean, color=BLUE)
        for sign in (-1, 1):
            axis.plot(x, true_mean + sign * QUANTILE * true_std, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
        axis.plot(*points, color=GREY, marker="o", linestyle="none", markersize=2.5)
        axis.set_title(method)
        axis.set_ylim(span.min(), span.max())
    for axis in flat[len(shown) :]:
        axis.set_visible(False)
    return figure
