"""Weight draws, local reparametrisation and Flipout, with ties and without: noise of gradients, steps, seconds.

plait reproduce ktied-estimators          (with nothing else on the machine: seconds are compared)

Every pair of a posterior and an estimator trains the network of papers 000 and 001 on MNIST from the same start, with
the KL at weight 1. The gradients of all estimators are compared at the same two models of each posterior: where
training starts, and where it ends with weight draws.
"""

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from plait.analysis import gradient_noise
from plait.checkpoint import load
from plait.checkpoint.atomic import write_whole
from plait.data import Dataset
from plait.model.bayesianize import EstimatorName
from plait.objective import elbo
from plait.recipes.ktied import mlp
from plait.recipes.ktied.protocol import Protocol, Rank, method_name
from plait.recipes.ktied.training import Plain, train_plain
from plait.report import Picture, Table, training_lines

Pair = tuple[Rank, EstimatorName]
Noise = dict[str, float]
"""Variance over signal by "means" and "stds"; the variance of the means' gradients by "variance"."""
MOMENTS = ("start", "end")


@dataclass(frozen=True)
class Comparison:
    """What is compared."""

    protocol: Protocol
    """With one start, whose last signal step ends training."""
    target: float
    """-ELBO per example on the validation data that is to be reached."""
    ranks: tuple[Rank, ...] = (None, 2)
    estimators: tuple[EstimatorName, ...] = ("weights", "local", "flipout")
    draws: int = 64
    """Gradients that variances are of."""

    @property
    def pairs(self) -> list[Pair]:
        """Posteriors and estimators."""
        return [(rank, estimator) for rank in self.ranks for estimator in self.estimators]


WHOLE = Comparison(
    dataclasses.replace(
        mlp.PROTOCOL, starts=mlp.PROTOCOL.starts[1:], signal_steps=(5000,), signal_weight=None, seeds=1
    ),
    target=2.0,
)
SMALL = Comparison(dataclasses.replace(mlp.SMALL, signal_steps=(30,), signal_weight=None, seeds=1), target=8.0, draws=4)


def reproduce(output: Path, *, data_dir: str | None = None, seed: int = 0, quick: bool = False) -> Table:
    """Train every pair that is not trained yet, and write the page; the papers have no numbers for this."""
    comparison = SMALL if quick else WHOLE
    dataset = comparison.protocol.load(data_dir)
    trained = {pair: _train(comparison, dataset, *pair, output, seed) for pair in comparison.pairs}
    noise = {pair: _noise(comparison, dataset, *pair, output, seed) for pair in comparison.pairs}
    table = training_table(comparison, trained)
    picture = _picture(trained)
    (output / "ktied-estimators").mkdir(exist_ok=True)
    picture.save(output / "ktied-estimators" / "seconds.png")
    start = comparison.protocol.starts[0]
    page = [
        f"# Estimators on {comparison.protocol.title}",
        f"Made by `plait reproduce ktied-estimators{' --quick' if quick else ''}`.",
        f"## Training\n\nAdam at {start.learning_rate:g}, initial std {start.init_scale:g}, batches of "
        f"{comparison.protocol.batch_size}, the KL at weight 1, {comparison.protocol.signal_steps[-1]:,} steps, one "
        f"seed. The target is a -ELBO of {comparison.target:g} per example on the validation data; seconds are of "
        "training alone. The last column is -ELBO when the first pair to end its training has ended it."
        f"\n\n{table.markdown()}\n\n![{picture.title}](ktied-estimators/seconds.png)\n\n*{picture.caption}*",
        f"## Noise of one gradient\n\nOf a batch of {comparison.protocol.batch_size}, over {comparison.draws} draws: "
        "the variance of the gradient for all means together, and variance over squared length of the mean gradient "
        "(`plait.analysis.gradient_noise`), where training starts and where it ends with weight draws."
        f"\n\n{noise_table(noise).markdown()}",
    ]
    write_whole(output / "ktied-estimators.md", ("\n\n".join(page) + "\n").encode())
    return table


def training_table(comparison: Comparison, trained: Mapping[Pair, Plain]) -> Table:
    """Steps and seconds to the target, and where each is at the same time."""
    ends = min(float(found.seconds_at[-1]) for found in trained.values())
    rows = []
    for (rank, estimator), found in trained.items():
        curve = found.curve.mean(axis=0)
        reached = np.flatnonzero(curve <= comparison.target)
        first = reached[0] if reached.size else None
        rows.append(
            (
                method_name(rank),
                estimator,
                f"{1e3 * found.seconds_per_step:.1f}",
                "never" if first is None else f"{found.steps[first]:,.0f}",
                "" if first is None else f"{found.seconds_at[first]:.1f}",
                f"{curve[-1]:.4g}",
                f"{np.interp(ends, found.seconds_at, curve):.4g}",
            )
        )
    columns = ("rank", "estimator", "ms / step", "steps to target", "seconds to target", "-ELBO at the end")
    return Table((*columns, f"-ELBO at {ends:.0f} s"), rows, left=2)


def noise_table(noise: Mapping[Pair, Mapping[str, Noise]]) -> Table:
    """Of every pair, at both models."""
    columns = [f"{what}, {when}" for when in MOMENTS for what in ("variance of means", "means", "stds")]
    rows = [
        (
            method_name(rank),
            estimator,
            *(f"{found[when][name]:.3g}" for when in MOMENTS for name in ("variance", "means", "stds")),
        )
        for (rank, estimator), found in noise.items()
    ]
    return Table(("rank", "estimator", *columns), rows, left=2)


def _protocol(comparison: Comparison, estimator: EstimatorName) -> Protocol:
    title = f"{comparison.protocol.title}, {estimator}"
    return dataclasses.replace(comparison.protocol, title=title, estimator=estimator)


def _folder(output: Path, rank: Rank, estimator: EstimatorName) -> Path:
    return output / f"{method_name(rank)}-{estimator}"


def _train(
    comparison: Comparison, dataset: Dataset, rank: Rank, estimator: EstimatorName, output: Path, seed: int
) -> Plain:
    protocol = _protocol(comparison, estimator)
    found = train_plain(protocol, dataset, rank, protocol.starts[0], _folder(output, rank, estimator), seed=seed)
    name = f"{method_name(rank)} {estimator}"
    print(f"trained {name}: {found.seconds:.0f} s, -ELBO {found.curve[:, -1].mean():.3f}", flush=True)
    return found


def _noise(
    comparison: Comparison, dataset: Dataset, rank: Rank, estimator: EstimatorName, output: Path, seed: int
) -> dict[str, Noise]:
    file = _folder(output, rank, estimator) / "noise.json"
    if not file.is_file():
        found = _measure_noise(comparison, dataset, rank, estimator, output, seed)
        write_whole(file, (json.dumps(found, indent=1) + "\n").encode())
    return json.loads(file.read_text())


def _measure_noise(
    comparison: Comparison, dataset: Dataset, rank: Rank, estimator: EstimatorName, output: Path, seed: int
) -> dict[str, Noise]:
    protocol, key = _protocol(comparison, estimator), jax.random.key(seed)
    start = protocol.build(dataset, rank, key=key, init_scale=protocol.starts[0].init_scale)
    end = load(_folder(output, rank, comparison.estimators[0]) / f"seed-{seed}" / "model.safetensors", like=start)
    train, likelihood = dataset.train, protocol.likelihood(dataset)
    batch = jnp.asarray(train.x[: protocol.batch_size]), jnp.asarray(train.y[: protocol.batch_size])
    found: dict[str, Noise] = {}
    for when, model in zip(MOMENTS, (start, end), strict=True):
        groups = gradient_noise(
            lambda bnn, key: elbo(bnn, batch, key=key, likelihood=likelihood, dataset_size=len(train.x))[0],
            model,
            key=key,
            draws=comparison.draws,
        )
        parts = {
            "means": [group for group in groups if group.group == "means"],
            "stds": [group for group in groups if group.group != "means"],
        }
        variance = {name: sum(group.variance for group in part) for name, part in parts.items()}
        signal = {name: sum(group.signal for group in part) for name, part in parts.items()}
        found[when] = {name: variance[name] / max(signal[name], 0.0) for name in parts if signal[name] > 0}
        found[when] = dict.fromkeys(parts, float("inf")) | found[when] | {"variance": variance["means"]}
    return found


def _picture(trained: Mapping[Pair, Plain]) -> Picture:
    lines = {
        f"{method_name(rank)}, {estimator}": (found.seconds_at, found.curve)
        for (rank, estimator), found in trained.items()
    }
    return Picture(
        training_lines({"": lines}, "−ELBO per example", across="seconds of training"),
        "Estimators against the clock",
        "Validation data, the KL at weight 1; rank 2 and mean field (full).",
    )
