"""How good predictions are, clean and corrupted (MATH 2.4).

p(y | x) = 1 / SK sum over weight samples and components (and networks of an ensemble)
cNLL, cA, cECE = means over the 15 common corruptions and 5 severities
mCE = mean over corruptions of sum_s error_s / sum_s error_s of the deterministic network
"""

import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, PRNGKey
from plait.checkpoint.atomic import write_whole
from plait.data import Pair
from plait.data.corruption import SEVERITIES, corrupt
from plait.metrics import Estimate, accuracy_terms, expected_calibration_error_estimate
from plait.model import BayesianModel
from plait.objective.class_log_probs import class_log_probs

BINS = 15
METRICS = ("nll", "accuracy", "ece")
Scores = dict[str, Estimate]
Corrupted = dict[str, list[Scores]]
"""By type, then by severity."""


@dataclass(frozen=True)
class Result:
    """Of one method."""

    clean: Scores
    corrupted: Corrupted
    num_params: int
    seconds_per_step: float

    def mean_corrupted(self, metric: str) -> float:
        """cNLL, cA or cECE."""
        return float(np.mean([scores[metric].value for row in self.corrupted.values() for scores in row]))

    def at_severity(self, metric: str, severity: int) -> np.ndarray:
        """One number for each type."""
        return np.array([row[severity - 1][metric].value for row in self.corrupted.values()])

    def corruption_error(self, base: "Result") -> float:
        """mCE."""
        errors = [
            tuple(sum(1 - scores["accuracy"].value for scores in result.corrupted[kind]) for result in (self, base))
            for kind in self.corrupted
        ]
        return float(np.mean([ours / theirs for ours, theirs in errors]))


def log_probs(
    models: Sequence[BayesianModel], x: np.ndarray, *, key: PRNGKey, samples: int, batch_size: int = 1000
) -> np.ndarray:
    """log p(class) of each example, [N, classes]."""
    size, parts = min(batch_size, len(x)), []
    for start in range(0, len(x), size):
        part = x[start : start + size]
        # The last part is filled up, so that one program serves all.
        full = jnp.asarray(np.concatenate([part, np.zeros((size - len(part), *part.shape[1:]), part.dtype)]))
        total = None
        for member, model in enumerate(models):
            for sample in range(samples):
                noise = jax.random.fold_in(jax.random.fold_in(jax.random.fold_in(key, member), sample), start)
                found = _of_one_draw(model, full, noise)
                total = found if total is None else jnp.logaddexp(total, found)
        assert total is not None
        parts.append(np.asarray(total)[: len(part)] - math.log(samples * len(models)))
    return np.concatenate(parts)


@eqx.filter_jit
def _of_one_draw(model: BayesianModel, x: Array, key: PRNGKey) -> Array:
    """Averaged over components."""
    assert model.likelihood is not None
    found = class_log_probs(model.likelihood, model(x, key=key))
    assert found is not None
    if model.components is not None:
        found = jax.nn.logsumexp(found, axis=0) - math.log(model.components)
    return found.reshape(x.shape[0], -1)


def score(found: np.ndarray, y: np.ndarray) -> Scores:
    """NLL, accuracy and ECE, with standard errors over examples."""
    labels = y.reshape(-1).astype(np.int64)
    probs = np.exp(found.astype(np.float64))
    probs /= probs.sum(axis=1, keepdims=True)
    return {
        "nll": Estimate.of_mean(-found[np.arange(len(labels)), labels]),
        "accuracy": Estimate.of_mean(accuracy_terms(probs, labels)),
        "ece": expected_calibration_error_estimate(probs, labels, num_bins=BINS, seed=0, num_resamples=50),
    }


class CorruptedPictures:
    """All corruptions of some pictures, made when they are first asked for and kept in a folder as bytes."""

    def __init__(self, pair: Pair, folder: Path, *, key: PRNGKey):
        self.pair, self.folder, self._key = pair, folder, key

    def __call__(self, kind: str, severity: int) -> Pair:
        """Pictures in [0, 1] and labels."""
        file = self.folder / f"{kind}-{severity}.npy"
        if not file.is_file():
            stream = io.BytesIO()
            found = corrupt(self.pair.x, kind, severity, key=self._key)
            np.save(stream, np.rint(255 * found).astype(np.uint8))
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(file, stream.getvalue())
        return Pair(np.load(file).astype(np.float32) / np.float32(255), self.pair.y)


def evaluate_corrupted(
    predict: Callable[[np.ndarray], np.ndarray], kinds: Sequence[str], pictures: Callable[[str, int], Pair]
) -> Corrupted:
    """Scores of a function from pictures in [0, 1] to `log_probs`, by type and severity.

    `pictures` is a `CorruptedPictures`, or `PublishedCorruptions(...).pair` for the files as they are published.
    """
    return {
        kind: [score(predict(pair.x), pair.y) for pair in (pictures(kind, severity) for severity in SEVERITIES)]
        for kind in kinds
    }


def to_json(result: Result) -> dict[str, Any]:
    """Plain numbers."""

    def plain(scores: Mapping[str, Estimate]) -> dict[str, list[float]]:
        return {name: [each.value, each.standard_error] for name, each in scores.items()}

    corrupted = {kind: [plain(scores) for scores in row] for kind, row in result.corrupted.items()}
    rest = {"num_params": result.num_params, "seconds_per_step": result.seconds_per_step}
    return {"clean": plain(result.clean), "corrupted": corrupted} | rest


def from_json(content: Mapping[str, Any]) -> Result:
    """The inverse of `to_json`."""

    def scores(plain: Mapping[str, Sequence[float]]) -> Scores:
        return {name: Estimate(*values) for name, values in plain.items()}

    corrupted = {kind: [scores(each) for each in row] for kind, row in content["corrupted"].items()}
    return Result(scores(content["clean"]), corrupted, content["num_params"], content["seconds_per_step"])
