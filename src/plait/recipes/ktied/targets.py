"""What papers 000 and 001 report (MATH 1.5): -ELBO, NLL and accuracy with standard errors over test examples."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from plait.metrics import Estimate
from plait.recipes.ktied.protocol import Rank

METRICS = ("negative_elbo", "nll", "accuracy")
"""By their names in an `Evaluation`; the papers give accuracy in per cent."""

STEPS = (1000, 5000, 9000)

Row = Mapping[str, Estimate]


@dataclass(frozen=True)
class Targets:
    """By rank; what a paper does not report is empty."""

    trained: Mapping[Rank, Row] = field(default_factory=dict)
    """With ties in training (paper 001, figure 2)."""
    truncated: Mapping[Rank, Row] = field(default_factory=dict)
    """A mean field cut off to a rank after training (paper 001, table 2; paper 000, table 1)."""
    converging: Mapping[Rank, Mapping[int, float]] = field(default_factory=dict)
    """-ELBO on validation data by step, without annealing."""
    signal: Mapping[Rank, Mapping[int, float]] = field(default_factory=dict)
    """E[g^2] / Var[g^2], likewise."""


def rows(*, full: str, one: str, two: str, three: str) -> dict[Rank, Row]:
    """Each row as printed: three values, each followed by its standard error."""
    return {rank: _row(text) for rank, text in ((None, full), (1, one), (2, two), (3, three))}


def by_step(*, full: str, one: str, two: str, three: str) -> dict[Rank, Mapping[int, float]]:
    """Values at the papers' steps."""
    texts = {None: full, 1: one, 2: two, 3: three}
    return {rank: dict(zip(STEPS, map(float, text.split()), strict=True)) for rank, text in texts.items()}


def _row(text: str) -> Row:
    numbers = list(map(float, text.split()))
    pairs = zip(METRICS, numbers[::2], numbers[1::2], strict=True)
    found = {name: Estimate(value, error) for name, value, error in pairs}
    accuracy = found["accuracy"]
    return found | {"accuracy": Estimate(accuracy.value / 100, accuracy.standard_error / 100)}
