"""Regressions: predicted against true, how often intervals hold what they promise, and bands along one input.

90 % interval: mean ± 1.645 std      observed coverage at level c = fraction of |PIT - 1/2| <= c / 2
"""

import numpy as np
from matplotlib.figure import Figure

from plait.report.style import BLUE, GREY, INK, ORANGE, panels, styled

QUANTILE = 1.6448536269514722
"""Of the standard normal at 95 %."""
MOST_POINTS = 400


@styled
def predicted_and_true(mean: np.ndarray, std: np.ndarray, y: np.ndarray, pit: np.ndarray | None = None) -> Figure:
    """Points with 90 % intervals, [N] each; with the probability integral transform also observed coverage."""
    figure, ((left, *rest),) = panels(1, 1 if pit is None else 2, 3.9 if pit is None else 7.4, 3.5)
    shown = np.linspace(0, len(y) - 1, min(len(y), MOST_POINTS)).astype(int)
    mean, std, y = mean[shown], std[shown], y[shown]
    inside = np.abs(y - mean) <= QUANTILE * std
    for group, colour, label in ((inside, BLUE, "inside"), (~inside, ORANGE, "outside")):
        bars = {"elinewidth": 0.7, "alpha": 0.6, "markersize": 3, "linestyle": "none", "marker": "o"}
        text = f"{label} {group.mean():.0%}"
        left.errorbar(y[group], mean[group], QUANTILE * std[group], color=colour, label=text, **bars)
    ends = [min(y.min(), mean.min()), max(y.max(), mean.max())]
    left.plot(ends, ends, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    left.set_xlabel("true")
    left.set_ylabel("predicted, with 90 % intervals")
    left.legend(loc="upper left")
    if pit is not None:
        _draw_coverage(rest[0], pit)
    return figure


def _draw_coverage(axis, pit: np.ndarray) -> None:
    levels = np.linspace(0, 1, 101)
    distance = np.sort(2 * np.abs(pit.reshape(-1) - 0.5))
    observed = np.searchsorted(distance, levels, side="right") / len(distance)
    error = np.sqrt(levels * (1 - levels) / len(distance))
    # Where a calibrated model's curve would be, but for chance.
    axis.fill_between(levels, levels - 2 * error, levels + 2 * error, color=GREY, alpha=0.25, linewidth=0)
    axis.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    axis.plot(levels, observed, color=BLUE)
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1)
    axis.set_xlabel("level of the interval")
    axis.set_ylabel("fraction of targets inside")


@styled
def bands(
    x: np.ndarray, mean: np.ndarray, std: np.ndarray, epistemic: np.ndarray, points: tuple[np.ndarray, np.ndarray]
) -> Figure:
    """Mean, 90 % band, and the part of it that the weights' uncertainty makes, along one input; [N] each.

    `epistemic` is a standard deviation, `points` are the training data (x, y).
    """
    figure, ((axis,),) = panels(1, 1, 6.4, 3.4)
    order = np.argsort(x)
    x, mean, std, epistemic = x[order], mean[order], std[order], epistemic[order]
    axis.plot(*points, color=GREY, marker="o", linestyle="none", markersize=2.5, alpha=0.6, label="training data")
    spans = ((std, 0.18, "90 % of targets"), (epistemic, 0.38, "90 % of functions"))
    for width, alpha, label in spans:
        low, high = mean - QUANTILE * width, mean + QUANTILE * width
        axis.fill_between(x, low, high, color=BLUE, alpha=alpha, linewidth=0, label=label)
    axis.plot(x, mean, color=BLUE, label="mean")
    axis.set_xlabel("x")
    axis.set_ylabel("y")
    axis.legend(loc="best")
    return figure
