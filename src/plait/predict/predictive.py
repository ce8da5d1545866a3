"""The predictive distribution p(y | x) = 1/M sum_m p(y | f_m), a uniform mixture of weight samples (times components):

variance = aleatoric + epistemic = E_m[Var[y | f_m]] + Var_m[E[y | f_m]]        the law of total variance
entropy  = expected_entropy + mutual_information = E_m[H[y | f_m]] + I[y; m]    of classes
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import jax.numpy as jnp
import numpy as np

from plait.likelihood.base import Numbers
from plait.metrics import entropy, log_mean_exp
from plait.objective.class_log_probs import pick_class
from plait.predict.batch import DRAWN
from plait.predict.moments import Moments
from plait.predict.quantiles import check_levels, predictive_quantiles
from plait.predict.source import Source
from plait.predict.streaming import stream


@runtime_checkable
class TargetScale(Protocol):
    """What undoes the standardisation of targets: `plait.data.Standardizer`, or anything like it."""

    def original_mean(self, mean: np.ndarray) -> np.ndarray:
        """Targets, means or quantiles in the units of the data."""
        ...

    def original_std(self, std: np.ndarray) -> np.ndarray:
        """Deviations in the units of the data."""
        ...

    @property
    def log_scale(self) -> float:
        """What to subtract from a log-density of standardised targets."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Predictive:
    """Predictions for N inputs, on the host; see `plait.predict`.

    `aleatoric` and `epistemic` are variances and add up to `variance`; `std` is its root. All are those of the mixture
    of the weight samples that were drawn, entry by entry of a target; for classes they are of the indicators of the
    classes, and `mean` holds probabilities. With a standardizer, everything that comes out is in the units of the data,
    and targets go in as the model was trained on them.
    """

    source: Source
    moments: Moments
    y: np.ndarray | None = None
    """The targets that were given, if any."""
    standardizer: TargetScale | None = None
    kept_outputs: np.ndarray | None = field(default=None)
    kept_targets: np.ndarray | None = field(default=None)
    kept_quantiles: dict[float, np.ndarray] = field(default_factory=dict)

    @property
    def num_samples(self) -> int:
        """The members of the mixture: weight samples, times components."""
        return int(self.moments.count)

    @property
    def mean(self) -> np.ndarray:
        """E[y | x], [N, ...]; of classes their probabilities, [N, classes]."""
        return self._original_mean(np.asarray(self.moments.mean))

    @property
    def aleatoric(self) -> np.ndarray:
        """The variance that remains when the weights are known, as a mean over weights."""
        return self._original_variance(np.asarray(self.moments.noise))

    @property
    def epistemic(self) -> np.ndarray:
        """The variance of E[y | x, W] over weights."""
        return self._original_variance(np.asarray(self.moments.spread / self.moments.count))

    @property
    def variance(self) -> np.ndarray:
        """Var[y | x]."""
        return self.aleatoric + self.epistemic

    @property
    def std(self) -> np.ndarray:
        """The standard deviation of y given x."""
        return np.sqrt(self.variance)

    @property
    def log_probs(self) -> np.ndarray:
        """log p(y = c | x), classes last (two for a binary target); finite where the probability underflows."""
        if self.moments.log_probs is None:
            raise ValueError(
                f"{type(self.source.likelihood).__name__} targets are not classes and have no entropy, labels or "
                "confidence here; `variance`, `aleatoric` and `epistemic` say how uncertain a prediction is"
            )
        return np.asarray(self.moments.log_probs - np.log(self.moments.count))

    @property
    def labels(self) -> np.ndarray:
        """The most probable class."""
        return self.log_probs.argmax(axis=-1)

    @property
    def confidence(self) -> np.ndarray:
        """The probability of the most probable class."""
        return np.exp(self.log_probs.max(axis=-1))

    @property
    def entropy(self) -> np.ndarray:
        """H[y | x] in nats: all uncertainty about the class."""
        return entropy(np.exp(self.log_probs))

    @property
    def expected_entropy(self) -> np.ndarray:
        """E_m H[y | x, W_m] in nats, the aleatoric part of the entropy."""
        return self.entropy - self.mutual_information

    @property
    def mutual_information(self) -> np.ndarray:
        """I[y; W | x] in nats, the epistemic part of the entropy."""
        total = self.entropy
        # Equal where all members agree: rounding must not make it negative.
        return np.maximum(total - np.asarray(self.moments.entropy, total.dtype), 0)

    @property
    def outputs(self) -> np.ndarray:
        """The model's outputs for each member, [S, N, ...], as the likelihood takes them."""
        return self._kept(self.kept_outputs, "outputs")

    @property
    def samples(self) -> np.ndarray:
        """E[y | x, W_m] for each member, [S, N, ...]: function draws of a regression, probabilities of classes."""
        return self._original_mean(np.asarray(self.source.likelihood.mean(self.outputs)))

    @property
    def targets(self) -> np.ndarray:
        """One target drawn from each member, [S, N, ...]: draws from the predictive distribution itself."""
        self._check_drawn("targets")
        return self._original_mean(self._kept(self.kept_targets, "targets"))

    def quantiles(self, levels: Iterable[float]) -> np.ndarray:
        """Quantiles of y given x, [levels, N, ...], noise included; of draws of targets, one for each member."""
        asked = tuple(float(level) for level in levels)
        check_levels(asked)
        self._check_drawn("quantiles")
        if self.kept_targets is None and all(level in self.kept_quantiles for level in asked):
            return self._original_mean(np.stack([self.kept_quantiles[level] for level in asked]))
        if self.kept_targets is None:
            raise ValueError(
                f"the quantiles at {list(asked)} were not asked for when predicting: pass `quantiles={list(asked)}` to "
                "`plait.predict`, or `keep_samples=True` to choose levels afterwards"
            )
        return self._original_mean(predictive_quantiles(self.kept_targets, asked))

    def log_prob(self, y: Numbers | None = None) -> np.ndarray:
        """log p(y | x) = log 1/M sum_m p(y | f_m) for each example, [N]; without y, of the targets given to `predict`.

        For one class an example the probabilities are enough. Otherwise the same weights are drawn once more, unless
        samples were kept.
        """
        targets = self._targets(y)
        given = self.y is not None and (y is None or np.array_equal(targets, self.y))
        if given and self.moments.log_likelihood is not None:
            value = np.asarray(self.moments.log_likelihood - np.log(self.moments.count))
        elif self.moments.log_probs is not None and targets[:1].size == 1:
            value = np.asarray(pick_class(jnp.asarray(self.log_probs), targets))
        elif self.kept_outputs is not None:
            value = log_mean_exp(self.source.likelihood.log_prob(self.kept_outputs, targets))
        else:
            again = stream(self.source, y=targets).groups[0]
            value = np.asarray(again.log_likelihood - np.log(again.count))
        return value if self.standardizer is None else value - self.standardizer.log_scale

    def expected_log_prob(self) -> np.ndarray:
        """E_m[log p(y | f_m)] of the targets given to `predict`, [N]: the term of the evidence lower bound."""
        self._targets(None)
        value = np.asarray(self.moments.expected_log_prob)
        return value if self.standardizer is None else value - self.standardizer.log_scale

    @property
    def pit(self) -> np.ndarray:
        """The probability integral transform of the given targets, entry by entry: uniform if calibrated.

        It is the fraction of draws of targets below the given one, put into the middle of its step of 1 / (S + 1).
        """
        if self.moments.below is None:
            raise ValueError(
                "the probability integral transform compares given targets of a regression with drawn ones: pass `y` "
                "and a key to `plait.predict`"
            )
        count = self.moments.count
        return np.asarray((self.moments.below * count + 0.5) / (count + 1))

    def __len__(self) -> int:
        return self.source.num_examples

    def __repr__(self) -> str:
        name = type(self.source.likelihood).__name__
        return f"<Predictive: {len(self):,} examples, {self.num_samples:,} samples, {name}>"

    def _targets(self, y: Any) -> np.ndarray:
        if y is None and self.y is None:
            raise ValueError("no targets: pass `y` here, or to `plait.predict`")
        if y is None:
            assert self.y is not None
            return self.y
        targets = np.asarray(y)
        self.source.check_targets(targets)
        return targets

    def _check_drawn(self, what: str) -> None:
        likelihood = self.source.likelihood
        if likelihood.task not in DRAWN:
            raise ValueError(f"{type(likelihood).__name__} has no {what}: the probabilities of classes are in `mean`")

    def _kept(self, values: np.ndarray | None, what: str) -> np.ndarray:
        if values is None and self.source.keys is None and what == "targets":
            raise ValueError("targets are drawn with a key, and these predictions were made with `key=None`")
        if values is None:
            raise ValueError(f"{what} were not kept, to save memory: pass `keep_samples=True` to `plait.predict`")
        return values

    def _original_mean(self, values: np.ndarray) -> np.ndarray:
        return values if self.standardizer is None else self.standardizer.original_mean(values)

    def _original_variance(self, values: np.ndarray) -> np.ndarray:
        return values if self.standardizer is None else np.square(self.standardizer.original_std(np.sqrt(values)))
