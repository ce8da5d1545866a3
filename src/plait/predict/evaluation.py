"""What an evaluation found: metrics with their standard errors over examples."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plait.metrics import Estimate, ReliabilityCurve

TITLES = {
    "nll": "NLL",
    "gibbs_nll": "Gibbs NLL",
    "negative_elbo": "-ELBO per example",
    "accuracy": "accuracy",
    "brier": "Brier score",
    "ece": "calibration error",
    "rmse": "RMSE",
}


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How good predictions are; `print` it to see all of it. What does not fit the task is None."""

    nll: Estimate
    """-log of the mixture's density."""
    gibbs_nll: Estimate
    """-log density of one member, averaged over members."""
    kl: float | None
    """KL(q || p) in nats; None where it must be drawn and there is no key."""
    num_examples: int
    num_samples: int
    """Weight samples, times components."""
    negative_elbo: Estimate | None = None
    """Per example, with KL / dataset_size."""
    accuracy: Estimate | None = None
    brier: Estimate | None = None
    ece: Estimate | None = None
    """The expected calibration error; its error is a bootstrap's."""
    rmse: Estimate | None = None
    coverage: dict[float, Estimate] = field(default_factory=dict)
    """The fraction of targets inside the central interval of each level."""
    reliability: ReliabilityCurve | None = None
    over_samples: dict[str, float] = field(default_factory=dict)
    """With `by_sample`, the standard error of each metric over weight samples, by its name in `metrics`."""

    @property
    def metrics(self) -> dict[str, Estimate]:
        """Those there are, by name."""
        named = {name: getattr(self, name) for name in TITLES}
        found = {name: estimate for name, estimate in named.items() if estimate is not None}
        return found | {coverage_name(level): estimate for level, estimate in self.coverage.items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and strings, for JSON; what is not finite is None."""
        curve = self.reliability
        return {
            "num_examples": self.num_examples,
            "num_samples": self.num_samples,
            "kl": None if self.kl is None else _finite(self.kl),
            "metrics": {name: self._entry(name, estimate) for name, estimate in self.metrics.items()},
            "reliability": None if curve is None else {name: _plain(values) for name, values in vars(curve).items()},
        }

    def _entry(self, name: str, estimate: Estimate) -> dict[str, Any]:
        entry = {"value": _finite(estimate.value), "standard_error": _finite(estimate.standard_error)}
        if name in self.over_samples:
            entry["standard_error_over_samples"] = _finite(self.over_samples[name])
        return entry

    def __str__(self) -> str:
        lines = [("", "over examples", "over samples" if self.over_samples else "")]
        for name, estimate in self.metrics.items():
            more = f"± {self.over_samples[name]:.2g}" if name in self.over_samples else ""
            lines.append((TITLES.get(name) or name.replace("_", " ") + " %", str(estimate), more))
        if self.kl is not None:
            lines.append(("KL in nats", f"{self.kl:.1f}", ""))
        widths = [max(len(line[i]) for line in lines) for i in range(3)]
        body = ["  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        title = f"{self.num_examples:,} examples, {self.num_samples:,} weight samples"
        rule = "-" * max(map(len, (title, *body)))
        return "\n".join([title, rule, body[0], rule, *body[1:]])


def coverage_name(level: float) -> str:
    """How `metrics` names the coverage of an interval."""
    return f"coverage_{100 * level:g}"


def _plain(values: np.ndarray) -> list[Any]:
    return [_finite(value) for value in values.tolist()]


def _finite(value: float | int) -> float | int | None:
    return value if math.isfinite(value) else None
