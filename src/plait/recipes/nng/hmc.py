"""Predictive variances against those of HMC (paper 004, section 5.2, table 3), by `plait reproduce nng-hmc`.

20 labelled and 100 other points of each set, ten times; the Pearson correlation of Var f(x) over the 100 points. And
the predictive bands of all methods on a line.
"""

import dataclasses
import sys
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from plait.metrics import Estimate
from plait.recipes.nng.bands import SMALL_LINE, Line, draw_bands
from plait.recipes.nng.functions import find_functions
from plait.recipes.nng.methods import HMC, METHODS, Training
from plait.recipes.nng.page import correlations, hmc_page, hmc_table
from plait.recipes.nng.part import main
from plait.recipes.nng.protocol import Protocol
from plait.recipes.nng.trials import draw_trials
from plait.recipes.nuts import Sampling
from plait.recipes.part import Part
from plait.report import Table

PROTOCOL = Protocol(methods=tuple(METHODS), sampling=Sampling(warmup=500, draws=500))
SMALL = Protocol(
    sets=("diabetes",),
    methods=("BBB", "NNG-MVG"),
    trials=2,
    num_others=30,
    num_samples=20,
    training=Training(epochs=20, num_samples=2),
    sampling=Sampling(chains=2, warmup=20, draws=20, max_doublings=3),
)


def reproduce(output: Path, *, data_dir: str | None = None, seed: int = 0, quick: bool = False) -> Table:
    """The whole study, or a small one."""
    protocol, line = (SMALL, SMALL_LINE) if quick else (PROTOCOL, Line())
    command = f"plait reproduce nng-hmc{' --quick' if quick else ''}{f' --seed {seed}' if seed else ''}"
    return run_study(protocol, output, command=command, data_dir=data_dir, seed=seed, line=line)


def run_study(
    asked: Protocol, output: Path, *, command: str, data_dir: str | None = None, seed: int = 0, line: Line | None = None
) -> Table:
    """Set by set and method by method; what is done is not done again. `command` is what the page names."""
    found: dict[str, dict[str, Any]] = {}
    for name in asked.sets:
        found[name] = {}
        for method in (HMC, *asked.methods):
            folder = Part(output / "parts" / f"hmc-{name}-{method}", asked.settings(set=name, method=method, seed=seed))
            part = folder.once(lambda n=name, m=method: run(asked, n, m, data_dir=data_dir, seed=seed))
            found[name][method] = part
            if method != HMC:
                shown = Estimate.of_mean(correlations(part, found[name][HMC]))
                print(f"{name}, {method}: correlation {shown}; {part['seconds']:.0f} s", flush=True)
            else:
                print(f"{name}, {method}: {part['seconds']:.0f} s", flush=True)
    bands = draw_bands(output, asked, Line() if line is None else line, seed=seed)
    hmc_page(output, asked, PROTOCOL, found, bands, command)
    return hmc_table(found)


def run(protocol: Protocol, name: str, method: str, *, data_dir: str | None, seed: int) -> dict[str, Any]:
    """One method on one set: Var f(x), [trials, points]."""
    begun, count = time.perf_counter(), protocol.num_labelled + protocol.num_others
    trials = draw_trials(name, data_dir, trials=protocol.trials, points=count, seed=seed)
    x, y, _ = trials.labelled(np.tile(np.arange(protocol.num_labelled), (len(trials), 1)))
    found = find_functions(
        *(method, protocol.training, protocol.sampling, protocol.hidden, (x, y), trials.x[:, protocol.num_labelled :]),
        key=jax.random.key(seed),
        num_samples=protocol.num_samples,
    )
    return {
        "variance": found.variance.tolist(),
        "agreement": [dataclasses.asdict(note) for note in found.agreement],
        "seconds": time.perf_counter() - begun,
    }


if __name__ == "__main__":
    sys.exit(main("hmc", run_study, PROTOCOL))
