"""Pictures from a test set in rows, each with what it is and what it was taken for."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from plait.report.style import FAINT, panels, styled


@styled
def image_grid(
    rows: Mapping[str, tuple[np.ndarray, Sequence[str]]],
    columns: int = 8,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """For each row its name, images [n, height, width] or [n, height, width, channels], and a label for each.

    `limits` are the values of black and white; by default those that each picture reaches.
    """
    lines = max((label.count("\n") + 1 for _, labels in rows.values() for label in labels), default=1)
    figure, axes = panels(len(rows), columns, 1.02 * columns, (1.26 + 0.16 * lines) * len(rows))
    for row, (name, (images, labels)) in zip(axes, rows.items(), strict=True):
        for index, axis in enumerate(row):
            axis.set_xticks([])
            axis.set_yticks([])
            axis.grid(visible=False)
            for spine in axis.spines.values():
                spine.set_visible(index < len(images))
                spine.set_color(FAINT)
            if index < len(images):
                shown = _displayable(images[index], limits)
                axis.imshow(shown, cmap="gray_r", interpolation="nearest", vmin=0, vmax=1)
                axis.set_xlabel(labels[index], fontsize=7.5)
        row[0].set_title(name, fontsize=9)
    return figure


def _displayable(image: np.ndarray, limits: tuple[float, float] | None) -> np.ndarray:
    picture = image[..., 0] if image.ndim == 3 and image.shape[-1] == 1 else image
    # Whatever the pixels were scaled to.
    low, high = (float(picture.min()), float(picture.max())) if limits is None else limits
    return (picture - low) / (high - low) if high > low else np.zeros_like(picture)
