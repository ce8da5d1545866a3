"""Seconds of compiled programs, measured side by side.

Machines are noisy and drift: every round runs each program once, and the minimum over rounds is reported, so that
ratios within one table mean something where seconds do not.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

import jax


def fastest(programs: Mapping[str, Callable[[], Any]], *, rounds: int, warm_up: int = 2) -> dict[str, float]:
    """The least seconds of each program; a program does one unit of work and returns what must be waited for."""
    best = dict.fromkeys(programs, float("inf"))
    for index in range(warm_up + rounds):
        for name, run in programs.items():
            start = time.perf_counter()
            jax.block_until_ready(run())
            if index >= warm_up:
                best[name] = min(best[name], time.perf_counter() - start)
    return best
