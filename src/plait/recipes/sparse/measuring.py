"""What is left of a trained model under each rule, how good it is then, and what it costs.

For each rule: the model with zeros, by its mean weights and by weight samples; the smaller model that `plait.shrink`
makes of it, its bytes and the time of a prediction; and for free zeroing the same after training on.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import jax
import jax.numpy as jnp

from plait.bench.latency import latency
from plait.data import Dataset
from plait.metrics import Estimate
from plait.model import BayesianModel
from plait.predict import evaluate
from plait.recipes.part import Part
from plait.recipes.sparse.protocol import Protocol
from plait.recipes.sparse.training import fine_tune
from plait.sparsity import LayerReport, shrink, sparsify

BATCH = 256
"""Test inputs in a prediction that is timed."""


@dataclass(frozen=True)
class Quality:
    """On the test data."""

    accuracy: Estimate
    """Of mean weights."""
    sampled_accuracy: Estimate
    """Of the average over weight samples."""
    negative_elbo: Estimate
    """Per example."""


@dataclass(frozen=True)
class Pruned:
    """Under one rule."""

    quality: Quality
    tuned: Quality | None
    """After training on."""
    layers: tuple[LayerReport, ...]
    bytes: tuple[int, int]
    """Of the plain network before and after."""
    seconds: tuple[float, float]
    """Of a prediction before and after."""

    @property
    def weights(self) -> int:
        """Before."""
        return sum(layer.weights for layer in self.layers)

    @property
    def left(self) -> int:
        """Weights that are not zero."""
        return sum(layer.weights_left for layer in self.layers)


@dataclass(frozen=True)
class Measured:
    """Of one trained model."""

    whole: Quality
    """Nothing zeroed."""
    kl: float
    num_params: int
    pruned: dict[str, Pruned]
    """By rule."""


def measure(protocol: Protocol, dataset: Dataset, bnn: BayesianModel, part: Part, *, seed: int) -> Measured:
    """Measure, or read what was measured."""

    def work() -> dict[str, Any]:
        pruned = {name: _prune(protocol, dataset, bnn, name, seed) for name in protocol.rules()}
        whole = _quality(protocol, dataset, bnn, seed)
        return asdict(Measured(whole, float(bnn.kl()), bnn.num_params, pruned))

    found = part.once(work)
    pruned = {name: _read_pruned(values) for name, values in found["pruned"].items()}
    return Measured(_read_quality(found["whole"]), found["kl"], found["num_params"], pruned)


def _prune(protocol: Protocol, dataset: Dataset, bnn: BayesianModel, name: str, seed: int) -> Pruned:
    sparse = sparsify(bnn, protocol.rules()[name])
    small = shrink(sparse)
    times = latency({"before": bnn, "after": small.model}, jnp.asarray(dataset.test.x[:BATCH]))
    tuned = None
    if protocol.fine_tune and name == "free":
        found = fine_tune(protocol, dataset, sparse.model, protocol.fine_tune, seed=seed)
        tuned = _quality(protocol, dataset, found.model, seed)
    assert small.report.bytes_before is not None
    assert small.report.bytes_after is not None
    return Pruned(
        _quality(protocol, dataset, sparse.model, seed),
        tuned,
        sparse.report.layers,
        (small.report.bytes_before, small.report.bytes_after),
        (times["before"], times["after"]),
    )


def _quality(protocol: Protocol, dataset: Dataset, bnn: BayesianModel, seed: int) -> Quality:
    size, samples = len(dataset.train.x), protocol.num_samples
    mean = evaluate(bnn, dataset.test, key=None)
    found = evaluate(bnn, dataset.test, key=jax.random.key(seed), dataset_size=size, num_samples=samples)
    assert mean.accuracy is not None
    assert found.accuracy is not None
    assert found.negative_elbo is not None
    return Quality(mean.accuracy, found.accuracy, found.negative_elbo)


def _read_quality(values: dict[str, Any]) -> Quality:
    return Quality(**{name: Estimate(**value) for name, value in values.items()})


def _read_pruned(values: dict[str, Any]) -> Pruned:
    return Pruned(
        _read_quality(values["quality"]),
        None if values["tuned"] is None else _read_quality(values["tuned"]),
        tuple(LayerReport(**layer) for layer in values["layers"]),
        (values["bytes"][0], values["bytes"][1]),
        (values["seconds"][0], values["seconds"][1]),
    )


def dropped(layers: Sequence[LayerReport], what: str = "weights") -> list[int]:
    """Per cent of the weights, rows or columns of each layer that are gone, as the paper's tables print it."""
    pairs = [(getattr(layer, what), getattr(layer, f"{what}_left")) for layer in layers]
    return [round(100 * (whole - left) / whole) for whole, left in pairs]
