"""Seconds of compiled programs, measured side by side.

Machines are noisy and drift: every round runs each program once, and the minimum over rounds is reported, so that
ratios within one table mean something where seconds do not.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

import jax

FEWEST = 5
"""Rounds that every program gets, however slow it is."""


def fastest(
    programs: Mapping[str, Callable[[], Any]], *, rounds: int, warm_up: int = 2, budget: float = float("inf")
) -> dict[str, float]:
    """The least seconds of each program; a program does one unit of work and returns what must be waited for.

    A program that has used up its `budget` of seconds sits out the rest of the rounds.
    """
    best = dict.fromkeys(programs, float("inf"))
    spent = dict.fromkeys(programs, 0.0)
    for index in range(warm_up + rounds):
        for name, run in programs.items():
            if spent[name] > budget and index >= warm_up + FEWEST:
                continue
            start = time.perf_counter()
            jax.block_until_ready(run())
            seconds = time.perf_counter() - start
            spent[name] += seconds
            if index >= warm_up:
                best[name] = min(best[name], seconds)
    return best
