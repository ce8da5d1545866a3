"""How programs are timed side by side."""

from collections import Counter

import plait.bench.timing as timing
from plait.bench.timing import FEWEST, fastest


class Clock:
    """Time that passes only where a program says so."""

    def __init__(self):
        self.now, self.runs = 0.0, Counter()

    def program(self, name: str, *seconds: float):
        def run():
            self.now += seconds[min(self.runs[name], len(seconds) - 1)]
            self.runs[name] += 1

        return run


def test_the_minimum_is_of_the_rounds_after_the_warm_up(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock.now)
    programs = {"a": clock.program("a", 0.1, 0.1, 5.0, 3.0, 4.0), "b": clock.program("b", 2.0)}
    assert fastest(programs, rounds=3) == {"a": 3.0, "b": 2.0}
    assert clock.runs == {"a": 5, "b": 5}


def test_a_slow_program_stops_at_its_budget_but_has_its_fewest_rounds(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(timing.time, "perf_counter", lambda: clock.now)
    fastest({"slow": clock.program("slow", 10.0), "quick": clock.program("quick", 1.0)}, rounds=20, budget=30)
    assert clock.runs == {"slow": 2 + FEWEST, "quick": 2 + 20}
