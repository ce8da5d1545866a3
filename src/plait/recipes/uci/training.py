"""One method on one set, all splits as one compiled program, in a folder; a run that was stopped goes on where it was.

What it keeps (`recipes/part.py`) is RMSE and log-likelihood of each split, seconds, and the curve of training.
"""

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plait._typing import PRNGKey
from plait.fit import Fit, fit
from plait.likelihood import GammaGaussian
from plait.metrics import Estimate, gaussian_log_likelihood_terms, log_mean_exp, rmse
from plait.model import BayesianModel, bayesianize
from plait.predict import predict
from plait.prior import Normal
from plait.recipes.keys import run_keys
from plait.recipes.networks import build_network
from plait.recipes.part import Part
from plait.recipes.uci import pbp
from plait.recipes.uci.methods import METHODS, Method, Plan
from plait.recipes.uci.protocol import Protocol
from plait.recipes.uci.splits import Splits

LOOKS = 200
"""Points of a curve."""


@dataclass(frozen=True)
class Case:
    """What is trained."""

    name: str
    """Of the set."""
    method: str
    layers: int

    @property
    def folder(self) -> Path:
        """In the output of the study."""
        return Path(f"{self.layers}-hidden") / self.method / self.name


@dataclass(frozen=True, eq=False)
class Found:
    """What came of it; arrays lead with splits."""

    rmse: np.ndarray
    """In the units of the data."""
    log_likelihood: np.ndarray
    """Likewise."""
    seconds: float
    """Of training, compilation left out where it is known."""
    milliseconds_per_step: float
    failed: tuple[int, ...]
    """Splits whose loss was not finite at some step."""
    size: int
    """N."""
    target_std: float
    steps: np.ndarray
    """Of the curve."""
    curve: np.ndarray
    """-ELBO for each training example, [looks, splits]; empty where there is none."""

    def estimates(self) -> tuple[Estimate, Estimate]:
        """Means over splits with their standard errors."""
        return Estimate.of_mean(self.rmse), Estimate.of_mean(self.log_likelihood)

    @property
    def seconds_at(self) -> np.ndarray:
        """Seconds of training until each point of the curve, all splits together."""
        return self.steps * self.milliseconds_per_step / 1000


def run_part(protocol: Protocol, case: Case, output: Path, *, data_dir: str | None, seed: int) -> Found:
    """Train and score, or read what was found before."""
    part = Part(output / case.folder, _settings(protocol, case, seed))

    def work() -> dict[str, Any]:
        splits = Splits.load(case.name, protocol.splits_of(case.name), data_dir)
        method, keys = METHODS[case.method], run_keys(seed)
        train = _filtered if method.optimizer is None else _fitted
        mean, log_probs, more = train(protocol, case, method, splits, part, keys.training, keys.prediction)
        scales = splits.standardizers
        targets = [scale.original_mean(y) for scale, y in zip(scales, splits.test.y, strict=True)]
        scores = {
            "rmse": [rmse(m, y) for m, y in zip(mean, targets, strict=True)],
            "log_likelihood": [float(np.mean(values)) for values in log_probs],
        }
        return scores | more | {"size": splits.size, "target_std": splits.target_std}

    done = part.once(work)
    for name in ("rmse", "log_likelihood", "steps", "curve"):
        done[name] = np.asarray(done[name], float)
    done["failed"] = tuple(done["failed"])
    return Found(**done)


def _settings(protocol: Protocol, case: Case, seed: int) -> dict[str, Any]:
    own = {"set": case.name, "method": case.method, "layers": case.layers, "seed": seed}
    own |= {"splits": protocol.splits_of(case.name), "epochs": protocol.epochs_of(case.name)}
    names = ("pbp_epochs", "train_samples", "test_samples", "learning_rate", "curvature_rate", "curvature_every")
    names += ("prior_variance", "noise_shape", "noise_rate", "ensemble", "dropout")
    return own | {name: getattr(protocol, name) for name in names}


Trained = tuple[list[np.ndarray], list[np.ndarray], dict[str, Any]]
"""Predictive means and log-densities of each split's test targets in the data's units; what else is kept."""


def _fitted(
    protocol: Protocol, case: Case, method: Method, splits: Splits, part: Part, key: PRNGKey, test_key: PRNGKey
) -> Trained:
    epochs, batch_size = protocol.epochs_of(case.name), protocol.batch_size(case.name)
    members, train = method.members(protocol), splits.train
    plan = Plan(protocol, splits.size, epochs * (splits.size // batch_size))
    assert method.family is not None
    assert method.optimizer is not None
    family = method.family(plan)

    def make(key: PRNGKey) -> BayesianModel:
        shape, widths = train.x.shape[2:], (protocol.width(case.name),) * case.layers
        network = build_network("mlp", shape, 1, widths=widths, key=key)
        prior = Normal(math.sqrt(protocol.prior_variance))
        return bayesianize(network, np.zeros((2, *shape), np.float32), posterior=family, prior=prior, key=key)

    found = fit(
        make,
        (np.repeat(train.x, members, axis=0), np.repeat(train.y, members, axis=0)),
        likelihood=GammaGaussian(protocol.noise_shape, protocol.noise_rate),
        optimizer=method.optimizer(plan),
        epochs=epochs,
        batch_size=batch_size,
        key=key,
        replicas=len(splits) * members,
        data_per_replica=True,
        checkpoint=part.checkpoints,
        keep=1,
        resume=True,
    )
    if found.interrupted:
        raise KeyboardInterrupt
    means, log_probs, models = [], [], found.unstack()
    for split, scale in enumerate(splits.standardizers):
        predictions = [
            predict(
                model,
                splits.test.x[split],
                y=splits.test.y[split],
                key=test_key,
                num_samples=protocol.test_samples,
                standardizer=scale,
                progress=False,
            )
            for model in models[split * members : (split + 1) * members]
        ]
        means.append(np.mean([each.mean for each in predictions], axis=0))
        log_probs.append(log_mean_exp([each.log_prob() for each in predictions]))
    return means, log_probs, _story(found, members)


def _story(found: Fit, members: int) -> dict[str, Any]:
    history = found.history
    # Of all epochs but the first, which may have compilation in it.
    pace = float(np.median(history["steps_per_second"][1:] if len(history) > 1 else history["steps_per_second"]))
    looks = np.unique(np.linspace(0, len(history) - 1, min(LOOKS, len(history))).round().astype(int))
    curve = history["negative_elbo"][looks].reshape(len(looks), -1, members).mean(axis=2)
    return {
        "seconds": found.step / pace,
        "milliseconds_per_step": 1000 / pace,
        "failed": sorted({replica // members for replica in found.failed}),
        "steps": history["step"][looks].tolist(),
        "curve": curve.tolist(),
    }


def _filtered(
    protocol: Protocol, case: Case, method: Method, splits: Splits, part: Part, key: PRNGKey, test_key: PRNGKey
) -> Trained:
    del method, part, test_key
    began = time.perf_counter()
    hidden, epochs = (protocol.width(case.name),) * case.layers, protocol.pbp_epochs
    moments = pbp.train_and_predict(*splits.train, splits.test.x, hidden, key, epochs=epochs)
    seconds = time.perf_counter() - began
    means, log_probs = [], []
    for mean, variance, y, scale in zip(*moments, splits.test.y, splits.standardizers, strict=True):
        means.append(scale.original_mean(mean[:, None]))
        log_probs.append(gaussian_log_likelihood_terms(mean, np.sqrt(variance), y[:, 0]) - scale.log_scale)
    failed = [split for split, mean in enumerate(means) if not np.isfinite(mean).all()]
    pace = 1000 * seconds / (epochs * splits.size)
    return means, log_probs, {
        "seconds": seconds, "milliseconds_per_step": pace, "failed": failed, "steps": [], "curve": []
    }  # fmt: skip
