"""Matrices of posterior standard deviations beside their approximations of low rank (paper 001, figure 4)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from plait.analysis import StdApproximations
from plait.report.style import panels, styled


@styled
def std_heat_maps(approximations: Sequence[StdApproximations]) -> Figure:
    """One row for each weight: as trained, then one column for each rank, in the same colours."""
    ranks = list(dict.fromkeys(rank for each in approximations for rank in each.by_rank))
    count = len(ranks) + 1
    figure, axes = panels(len(approximations), count, 2.5 * count + 0.9, 0.35 + 2.1 * len(approximations))
    for line, each in zip(axes, approximations, strict=True):
        # Of the trained matrix alone, without its few outliers: all three must be seen by one scale.
        low, high = np.quantile(each.std, (0.005, 0.995))
        shown = [("as trained", each.std)]
        shown += [(f"rank {k}, error {100 * each.relative_error(k):.1f} %", each.by_rank[k]) for k in each.by_rank]
        norm = Normalize(low, high)
        for axis in line[len(shown) :]:
            axis.set_visible(False)
        for axis, (title, matrix) in zip(line, shown, strict=False):
            axis.imshow(matrix, cmap="viridis", norm=norm, aspect="auto", interpolation="nearest")
            axis.set_title(title, fontsize=8.5)
            axis.grid(visible=False)
            axis.set_xticks([])
            axis.set_yticks([])
        line[0].set_ylabel(f"{each.path}\n{each.std.shape[0]} × {each.std.shape[1]}")
        bar = figure.colorbar(ScalarMappable(norm, "viridis"), ax=line, pad=0.01, aspect=14, label="standard deviation")
        bar.ax.tick_params(labelsize=7)
    return figure
