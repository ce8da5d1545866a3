"""What all methods, and HMC, say of a function of one input: y = x^3 / 10 + noise, seen on both sides of a gap."""

import dataclasses
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from plait.data import Standardizer
from plait.recipes.nng.functions import find_functions
from plait.recipes.nng.methods import HMC, Training
from plait.recipes.nng.protocol import Protocol
from plait.recipes.nuts import Sampling
from plait.recipes.part import Part


@dataclass(frozen=True)
class Line:
    """The data of the picture."""

    examples: int = 20
    points: int = 161
    """Where functions are looked at."""
    noise: float = 0.3
    hidden: int = 20
    training: Training = dataclasses.field(default_factory=lambda: Training(epochs=2_000))
    sampling: Sampling = dataclasses.field(default_factory=Sampling)


SMALL_LINE = Line(
    points=9,
    hidden=10,
    training=Training(epochs=20, num_samples=2),
    sampling=Sampling(chains=2, warmup=20, draws=20, max_doublings=3),
)


@dataclass(frozen=True, eq=False)
class Bands:
    """In the units of the data."""

    x: np.ndarray
    y: np.ndarray
    grid: np.ndarray
    mean: dict[str, np.ndarray]
    """By method, [points]."""
    std: dict[str, np.ndarray]
    """Of functions, without noise."""


def draw_bands(output: Path, protocol: Protocol, line: Line, *, seed: int) -> Bands:
    """Of HMC and of the protocol's methods; each is done once."""
    rng = np.random.default_rng(seed)
    half = line.examples // 2
    x = np.concatenate([rng.uniform(-4, -1.5, half), rng.uniform(1, 3, line.examples - half)])[:, None]
    y = x**3 / 10 + line.noise * rng.normal(size=x.shape)
    grid = np.linspace(-6, 6, line.points)[:, None]
    scaler = Standardizer.fit(x, y)
    found: dict[str, dict[str, Any]] = {}
    for method in (HMC, *protocol.methods):
        settings = dataclasses.asdict(line) | {"samples": protocol.num_samples, "method": method, "seed": seed}
        part = Part(output / "parts" / f"line-{method}", settings)
        found[method] = part.once(lambda m=method: _run(protocol, line, m, scaler, x, y, grid, seed))
        print(f"line, {method}: {found[method]['seconds']:.0f} s", flush=True)
    return Bands(
        x[:, 0],
        y[:, 0],
        grid[:, 0],
        {name: scaler.original_mean(np.asarray(part["mean"])) for name, part in found.items()},
        {name: scaler.original_std(np.sqrt(np.asarray(part["variance"]))) for name, part in found.items()},
    )


def _run(
    protocol: Protocol,
    line: Line,
    method: str,
    scaler: Standardizer,
    x: np.ndarray,
    y: np.ndarray,
    grid: np.ndarray,
    seed: int,
) -> dict[str, Any]:
    begun = time.perf_counter()
    data, shown = (scaler.inputs(x)[None], scaler.targets(y)[None]), scaler.inputs(grid)[None]
    found = find_functions(
        *(method, line.training, line.sampling, line.hidden, data, shown),
        key=jax.random.key(seed),
        num_samples=protocol.num_samples,
    )
    seconds = time.perf_counter() - begun
    return {"mean": found.mean[0].tolist(), "variance": found.variance[0].tolist(), "seconds": seconds}
