"""How methods fare as pictures get worse: a box over the types of corruption at each severity.

As in figures 10 to 12 of paper 003.

Boxes hold the middle half of the types, the line is their median, whiskers reach to the last ones.
"""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from plait.report.style import INK, SERIES, panels, styled

BySeverity = Mapping[int, np.ndarray]
"""Values over types; severity 0 is the clean data, one value."""


@styled
def severity_boxes(by_metric: Mapping[str, Mapping[str, BySeverity]]) -> Figure:
    """One panel for each metric, and in it a colour for each method."""
    figure, rows = panels(len(by_metric), 1, 7.4, 0.4 + 2.1 * len(by_metric), sharex=True)
    for (axis,), (metric, by_method) in zip(rows, by_metric.items(), strict=True):
        width = 0.8 / len(by_method)
        for index, (method, values) in enumerate(by_method.items()):
            colour = SERIES[index % len(SERIES)]
            # Beyond six methods, colours come again without their filling.
            filled = index < len(SERIES)
            places = np.array(list(values)) + (index - (len(by_method) - 1) / 2) * width
            drawn = axis.boxplot(
                list(values.values()),
                positions=places.tolist(),
                widths=0.85 * width,
                whis=(0, 100),
                patch_artist=True,
                manage_ticks=False,
                boxprops={"facecolor": colour if filled else "none", "edgecolor": colour, "alpha": 0.75},
                whiskerprops={"color": colour},
                capprops={"color": colour},
                medianprops={"color": INK, "linewidth": 1},
            )
            drawn["boxes"][0].set_label(method)
        axis.set_title(metric)
        severities = list(next(iter(by_method.values())))
        axis.set_xticks(severities, ["clean" if s == 0 else str(s) for s in severities])
        axis.grid(axis="x", visible=False)
    rows[0][0].legend(loc="upper left", ncols=3)
    rows[-1][0].set_xlabel("severity")
    return figure
