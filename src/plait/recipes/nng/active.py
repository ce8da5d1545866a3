"""Active learning on UCI regressions (paper 004, section 5.4, table 2), by `plait reproduce nng-active`.

20 labels, then nine more one by one: at the pool's largest predictive variance, or at random; each time all is trained
from scratch. All trials of a method, both arms of them, go through the rounds together as one program.
"""

import dataclasses
import sys
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

from plait.active import Pool
from plait.metrics import Estimate
from plait.recipes.nng.functions import find_functions
from plait.recipes.nng.methods import HMC, Training
from plait.recipes.nng.page import ARMS, active_page, active_table
from plait.recipes.nng.part import main
from plait.recipes.nng.protocol import Protocol
from plait.recipes.nng.trials import Trials, draw_trials
from plait.recipes.nuts import Sampling
from plait.recipes.part import Part
from plait.report import Table

PROTOCOL = Protocol(
    methods=("BBB", "NNG-MVG", HMC), acquisitions=9, num_samples=500, sampling=Sampling(warmup=250, draws=250)
)
SMALL = Protocol(
    sets=("diabetes",),
    methods=("NNG-MVG", HMC),
    trials=2,
    acquisitions=1,
    num_samples=20,
    training=Training(epochs=20, num_samples=2),
    sampling=Sampling(chains=2, warmup=20, draws=20, max_doublings=3),
)


def reproduce(output: Path, *, data_dir: str | None = None, seed: int = 0, quick: bool = False) -> Table:
    """The whole study, or a small one."""
    protocol = SMALL if quick else PROTOCOL
    command = f"plait reproduce nng-active{' --quick' if quick else ''}{f' --seed {seed}' if seed else ''}"
    return run_study(protocol, output, command=command, data_dir=data_dir, seed=seed)


def run_study(asked: Protocol, output: Path, *, command: str, data_dir: str | None = None, seed: int = 0) -> Table:
    """Set by set and method by method; what is done is not done again. `command` is what the page names."""
    found: dict[str, dict[str, Any]] = {}
    for name in asked.sets:
        found[name] = {}
        for method in asked.methods:
            folder = Part(
                output / "parts" / f"active-{name}-{method}", asked.settings(set=name, method=method, seed=seed)
            )
            part = folder.once(lambda n=name, m=method: learn(asked, n, m, data_dir=data_dir, seed=seed))
            found[name][method] = part
            _tell(name, method, part)
    active_page(output, asked, PROTOCOL, found, command)
    return active_table(found)


def learn(protocol: Protocol, name: str, method: str, *, data_dir: str | None, seed: int) -> dict[str, Any]:
    """One method on one set: RMSE [arms, rounds, trials], what was picked, and what chains had to say of themselves."""
    begun, key = time.perf_counter(), jax.random.key(seed)
    trials = draw_trials(
        name, data_dir, trials=protocol.trials, points=None, hidden_inputs=protocol.num_others, seed=seed
    )
    size, start = trials.points - protocol.num_others, np.arange(protocol.num_labelled)
    both = Trials(np.concatenate([trials.x] * len(ARMS)), np.concatenate([trials.y] * len(ARMS)))
    pools = [Pool(x[:size]) for x in both.x]
    for pool, y in zip(pools, both.y, strict=True):
        pool.add(start, y[start])
    chance = np.random.default_rng([seed, 1])
    errors, notes = [], []
    for turn in range(protocol.acquisitions + 1):
        x, y, scalers = both.labelled(np.stack([pool.labelled for pool in pools]))
        found = find_functions(
            *(method, protocol.training, protocol.sampling, protocol.hidden, (x, y), both.x),
            key=jax.random.fold_in(key, turn),
            num_samples=protocol.num_samples,
            thinned=True,
        )
        notes += found.agreement
        test = found.mean[:, size:]
        predicted = np.stack([scaler.original_mean(one) for scaler, one in zip(scalers, test, strict=True)])
        errors.append(np.sqrt(np.mean(np.square(predicted - both.y[:, size:, 0]), axis=1)))
        if turn == protocol.acquisitions:
            break
        for index, (pool, labels) in enumerate(zip(pools, both.y, strict=True)):
            scores = found.variance[index, :size] if index >= protocol.trials else chance.random(size)
            picked = pool.best(scores)
            pool.add(picked, labels[picked])
    rmse = np.stack(errors, axis=1).reshape(len(ARMS), protocol.trials, -1).swapaxes(1, 2)
    return {
        "rmse": rmse.tolist(),
        "picked": [pool.labelled[protocol.num_labelled :].tolist() for pool in pools],
        "agreement": [dataclasses.asdict(note) for note in notes],
        "seconds": time.perf_counter() - begun,
    }


def _tell(name: str, method: str, part: dict[str, Any]) -> None:
    last = {arm: Estimate.of_mean(rounds[-1]) for arm, rounds in zip(ARMS, part["rmse"], strict=True)}
    shown = ", ".join(f"{arm} {value}" for arm, value in last.items())
    print(f"{name}, {method}: RMSE {shown}; {part['seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main("active", run_study, PROTOCOL))
