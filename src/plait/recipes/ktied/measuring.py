"""What is measured of a trained model, kept in a file: an evaluation on the test data is made once."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jax

from plait.checkpoint.atomic import write_whole
from plait.data import Dataset
from plait.metrics import Estimate
from plait.model import BayesianModel
from plait.predict import evaluate
from plait.recipes.ktied.protocol import Protocol
from plait.recipes.ktied.targets import METRICS


@dataclass(frozen=True)
class Measured:
    """Metrics on the test data, by the names in `METRICS`."""

    metrics: dict[str, Estimate]
    kl_per_example: float
    """KL(q || prior) / N."""
    num_params: int


def measure(
    protocol: Protocol, dataset: Dataset, model: Callable[[], BayesianModel], file: Path, *, seed: int
) -> Measured:
    """Evaluate the model, or read what was found before; the model is made only if it is needed."""
    if not file.is_file():
        write_whole(file, json.dumps(_evaluate(protocol, dataset, model(), seed), indent=1).encode())
    found = json.loads(file.read_text())
    metrics = {name: Estimate(*found["metrics"][name]) for name in METRICS}
    return Measured(metrics, found["kl_per_example"], found["num_params"])


def _evaluate(protocol: Protocol, dataset: Dataset, bnn: BayesianModel, seed: int) -> dict[str, object]:
    size = len(dataset.train.x)
    found = evaluate(bnn, dataset.test, key=jax.random.key(seed), dataset_size=size, num_samples=protocol.num_samples)
    assert found.kl is not None
    metrics = {name: [found.metrics[name].value, found.metrics[name].standard_error] for name in METRICS}
    return {"metrics": metrics, "kl_per_example": found.kl / size, "num_params": bnn.num_params}
