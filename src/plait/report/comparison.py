"""Several methods side by side: a panel for each metric, a dot with its standard error for each method."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from plait.metrics import Estimate
from plait.report.style import MARKERS, SERIES, panels, styled


@styled
def comparison(metrics: Mapping[str, Mapping[str, Estimate]]) -> Figure:
    """By metric and method."""
    methods = list(dict.fromkeys(name for values in metrics.values() for name in values))
    figure, (axes,) = panels(1, len(metrics), 2.3 * len(metrics), 0.8 + 0.33 * len(methods), sharey=True)
    for axis, (metric, values) in zip(axes, metrics.items(), strict=True):
        for row, method in enumerate(methods):
            if method in values:
                value = values[method]
                colour, marker = SERIES[row % len(SERIES)], MARKERS[row % len(MARKERS)]
                axis.errorbar(value.value, row, xerr=value.standard_error, markersize=5, color=colour, marker=marker)
        axis.set_title(metric)
        axis.set_yticks(range(len(methods)), methods)
        axis.set_ylim(len(methods) - 0.5, -0.5)
        axis.locator_params(axis="x", nbins=4)
    return figure
