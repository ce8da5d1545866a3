"""Learning curves: negative log-likelihood, -ELBO per example, and accuracy or RMSE, epoch by epoch."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plait.fit import History
from plait.report.style import BLUE, FAINT, ORANGE, panels, styled

LOSSES = {"nll": "negative log-likelihood", "negative_elbo": "−ELBO per example"}
SCORES = {"validation_accuracy": "validation accuracy", "validation_rmse": "validation RMSE"}


@styled
def learning_curves(history: History) -> Figure:
    """One panel each; replicas are thin lines around their mean. Shaded: epochs whose KL weight is not the last one."""
    shown = [name for name in SCORES if name in history.columns]
    names = [*LOSSES, *shown]
    figure, ((*axes,),) = panels(1, len(names), 3.3 * len(names), 2.7)
    epochs = history["epoch"]
    for axis, name in zip(axes, names, strict=True):
        if name in LOSSES:
            lines = [("training", name, BLUE), ("validation", f"validation_{name}", ORANGE)]
        else:
            lines = [("validation", name, ORANGE)]
        present = [(label, history[column], colour) for label, column, colour in lines if column in history.columns]
        for label, values, colour in present:
            _draw(axis, epochs, values, label, colour)
        _limit(axis, [values for _, values, _ in present])
        _shade_annealing(axis, epochs, history["kl_weight"])
        axis.set_title((LOSSES | SCORES)[name])
        axis.set_xlabel("epoch")
    axes[0].legend(loc="upper right")
    return figure


def _draw(axis: Axes, epochs: np.ndarray, values: np.ndarray, label: str, colour: str) -> None:
    table = values.reshape(len(values), -1)
    seen = np.isfinite(table).any(axis=1)
    marker = "o" if seen.sum() == 1 else None
    if table.shape[1] > 1:
        axis.plot(epochs[seen], table[seen], color=colour, linewidth=0.5, alpha=0.35)
    # A replica that stopped has no values any more.
    mean = np.nanmean(table[seen], axis=1) if seen.any() else table[seen, 0]
    axis.plot(epochs[seen], mean, color=colour, label=label, marker=marker)


def _limit(axis: Axes, curves: Sequence[np.ndarray]) -> None:
    """What matters is the course of training, not the height it fell from."""
    late = np.concatenate([curve[len(curve) // 20 :].reshape(-1) for curve in curves])
    late = late[np.isfinite(late)]
    if not late.size:
        return
    low, high = late.min(), late.max()
    if low > 0 and high > 10 * low:
        axis.set_yscale("log")
        axis.set_ylim(low / 1.15, high * 1.15)
    elif high > low:
        axis.set_ylim(low - 0.06 * (high - low), high + 0.06 * (high - low))


def _shade_annealing(axis: Axes, epochs: np.ndarray, weights: np.ndarray) -> None:
    weight = weights if weights.ndim == 1 else weights[:, 0]
    rising = np.flatnonzero(weight < weight[-1] * (1 - 1e-6))
    if rising.size and np.ptp(weight) > 0:
        axis.axvspan(float(epochs[0]), float(epochs[rising[-1]]), color=FAINT, alpha=0.35, linewidth=0, zorder=0)
