"""Latent space in a plane: where inputs lie, and what points of the plane decode to."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from plait.report.style import BLUE, panels, styled

Map = tuple[np.ndarray, np.ndarray, float]
"""Points [n, 2]; images [rows, columns, height, width], from the top down; half the width of the square they cover."""


@styled
def latent_map(maps: Mapping[str, Map]) -> Figure:
    """A column for each model: points above, decoded images below."""
    figure, (above, below) = panels(2, len(maps), 3.2 * len(maps), 6.4)
    for top, bottom, (name, (points, images, half)) in zip(above, below, maps.items(), strict=True):
        top.plot(*points.T, linestyle="none", marker=".", markersize=2, alpha=0.4, color=BLUE)
        top.set_title(name)
        top.set_xlim(-1.3 * half, 1.3 * half)
        top.set_ylim(-1.3 * half, 1.3 * half)
        top.set_aspect("equal")
        rows, columns, height, width = images.shape
        tiled = images.transpose(0, 2, 1, 3).reshape(rows * height, columns * width)
        bottom.imshow(tiled, cmap="gray_r", extent=(-half, half, -half, half), interpolation="nearest")
        bottom.grid(visible=False)
    return figure
