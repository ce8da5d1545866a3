"""Ctrl-C as a wish that is granted between two chunks; a second one interrupts at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Yields a function that says whether Ctrl-C was pressed."""
    pressed = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread can handle signals.
        yield pressed.is_set
        return
    before = signal.getsignal(signal.SIGINT)

    def handle(number: int, frame: Any) -> None:
        del number, frame
        pressed.set()
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, handle)
    try:
        yield pressed.is_set
    finally:
        signal.signal(signal.SIGINT, before)
