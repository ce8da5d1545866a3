"""A progress bar for work that turns out long: nothing is shown before two seconds, nor where nobody looks."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 2.0
"""Seconds before a bar appears."""


@contextmanager
def progress_bar(what: str, total: int, show: bool | None) -> Iterator[Callable[[], None]]:
    """A function to call after each of `total` steps.

    `show=None` shows a bar on a terminal once the work has taken a while, `True` always, `False` never.
    """
    asked = sys.stderr.isatty() if show is None else show
    patience = PATIENCE if show is None else 0.0
    started, done, bar = time.monotonic(), 0, None
    task: Any = None

    def advance() -> None:
        nonlocal done, bar, task
        done += 1
        if bar is None and asked and done < total and time.monotonic() - started >= patience:
            # Only now: most calls are over before rich would be imported.
            from rich.console import Console
            from rich.progress import Progress

            # Where lines cannot be taken back, rich prints a bar once, at the end.
            bar = Progress(console=Console(stderr=True), transient=sys.stderr.isatty())
            task = bar.add_task(what, total=total)
            bar.start()
        if bar is not None:
            bar.update(task, completed=done)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.stop()
