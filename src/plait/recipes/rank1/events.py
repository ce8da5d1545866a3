"""Synthetic records of irregular events, in place of MIMIC-III, which is not public.

A patient has a hidden risk that drifts from day to day. Days with more risk have more events, of other kinds; the last
day's risk decides the outcome. A record is the kinds of its last `LENGTH` events, 0 where there were fewer, and after
each day with events a token that says how many days passed (up to 8), as the bagging by days keeps it.
"""

import numpy as np

from plait.data import Dataset, Pair

KINDS, GAPS, LENGTH, DAYS = 40, 8, 48, 30
VOCABULARY = 1 + KINDS + GAPS


def load(train: int = 4000, test: int = 2000, seed: int = 0) -> Dataset:
    """Records [N, LENGTH] of integers and outcomes [N, 1]."""
    x, y = _records(train + test, np.random.default_rng(seed))
    return Dataset(
        "events",
        "binary",
        Pair(x[:train], y[:train]),
        None,
        Pair(x[train:], y[train:]),
        num_classes=2,
        vocabulary_size=VOCABULARY,
    )


def _records(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x = np.zeros((count, LENGTH), np.int32)
    y = np.zeros((count, 1), np.float32)
    for index in range(count):
        tokens, risk, quiet = [], rng.normal(), 0
        for _ in range(DAYS):
            risk = 0.9 * risk + 0.45 * rng.normal()
            events = rng.poisson(np.exp(0.6 * risk - 0.4))
            if not events:
                quiet += 1
                continue
            tokens.append(KINDS + 1 + min(quiet, GAPS - 1))
            # Kinds of severe events are chosen the more often, the higher the risk.
            tokens += (1 + rng.binomial(KINDS - 1, 1 / (1 + np.exp(-risk)), events)).tolist()
            quiet = 0
        kept = tokens[-LENGTH:]
        if kept:
            x[index, -len(kept) :] = kept
        y[index] = rng.random() < 1 / (1 + np.exp(-2 * risk))
    return x, y
