"""The live display of a run: epoch, losses, validation, speed and time left. Nothing where nobody looks."""

import math
import sys
from typing import Any

import numpy as np


class Display:
    """Where a run shows what it does: nowhere."""

    def show(self, step: int, row: dict[str, Any], steps_per_second: float) -> None:
        """The latest numbers."""
        del step, row, steps_per_second

    def close(self) -> None:
        """The run is over."""


class Bar(Display):
    """A bar with the numbers behind it, on the standard error stream."""

    def __init__(self, start: int, total_steps: int, steps_per_epoch: int):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (TextColumn("epoch {task.fields[epoch]}"), BarColumn(24), TextColumn("{task.fields[numbers]}"))
        self._bar = Progress(*columns, console=Console(stderr=True))
        self._total, self._length = total_steps, steps_per_epoch
        self._task = self._bar.add_task("", total=total_steps, completed=start, epoch=self._epoch(start), numbers="")
        self._bar.start()

    def show(self, step: int, row: dict[str, Any], steps_per_second: float) -> None:
        parts = [f"{LABELS[name]} {_short(row[name])}" for name in LABELS if name in row]
        if steps_per_second > 0:
            left = (self._total - step) / steps_per_second
            parts += [f"{steps_per_second:,.4g} steps/s", f"{_clock(left)} left"]
        self._bar.update(self._task, completed=step, epoch=self._epoch(step), numbers="  ".join(parts))

    def close(self) -> None:
        self._bar.stop()

    def _epoch(self, step: int) -> str:
        return f"{step / self._length:.3g}/{self._total / self._length:.3g}"


LABELS = {
    "nll": "nll",
    "kl": "KL",
    "negative_elbo": "-ELBO",
    "validation_nll": "validation nll",
    "validation_negative_elbo": "-ELBO",
    "validation_accuracy": "accuracy",
    "validation_rmse": "RMSE",
}


def make_display(progress: bool | None, start: int, total_steps: int, steps_per_epoch: int) -> Display:
    """With `progress=None` a bar on a terminal; `True` always, `False` never."""
    shown = sys.stderr.isatty() if progress is None else progress
    return Bar(start, total_steps, steps_per_epoch) if shown else Display()


def _short(value: Any) -> str:
    finite = [entry for entry in np.ravel(value) if math.isfinite(entry)]
    return f"{np.mean(finite):.4g}" if finite else "nan"


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
