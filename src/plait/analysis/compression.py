"""A trained mean field as a k-tied Normal: same means, standard deviations of rank k (`analysis/tie.py` has the maths).

What it costs is KL(tied || mean field) in nats, which needs no data and is what the negative ELBO of the data set rises
by to second order; with `score`, the negative ELBO itself is measured before and after.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, SupportsFloat

import jax
import jax.numpy as jnp
import numpy as np

from plait._table import Table
from plait.analysis.compressible import compressible_rows, log_std_of
from plait.analysis.low_rank import check_rank, low_rank
from plait.analysis.rank_choice import MAX_RANK, check_budget, equal_ties, fitting_ties, saves, tied_families
from plait.analysis.tie import Ties, kl_of_stds, tie
from plait.analysis.truncation import FLOOR
from plait.model import BayesianModel
from plait.model.exchange import exchange
from plait.model.patterns import Choice
from plait.posterior import Family, Posterior, Tied, TiedPosterior

Score = Callable[[BayesianModel], SupportsFloat]
"""Negative ELBO per example of a model, such as `lambda bnn: plait.evaluate(bnn, ...).negative_elbo`."""


@dataclass(frozen=True)
class TiedWeight:
    """What happened to one weight matrix."""

    path: str
    shape: tuple[int, int]
    """Fan-in, fan-out."""
    rank: int | None
    """None where it stayed a mean field."""
    loss: float
    """KL(tied || mean field) in nats."""
    start_loss: float
    """The same before the refinement."""
    svd_loss: float
    """The same for the plain singular value decomposition of this rank, with a floor; it stores as many numbers."""
    numbers: tuple[int, int]
    """Stored for standard deviations, before and after."""


@dataclass(frozen=True, eq=False)
class Compression:
    """A compressed model and what it cost; `print` it to see all of it."""

    model: BayesianModel
    weights: tuple[TiedWeight, ...]
    """Every weight matrix that was under a mean field."""
    bytes: tuple[int, int]
    """Of everything trained, before and after."""
    kl: tuple[float, float] | None
    """KL(q || prior) in nats, before and after; None where it has no closed form."""
    negative_elbo: tuple[float, float] | None = None
    """Per example, before and after, where there was a `score`."""

    @property
    def loss(self) -> float:
        """KL(tied || mean field) in nats, all weights together."""
        return sum(weight.loss for weight in self.weights)

    @property
    def ranks(self) -> dict[str, int]:
        """By path."""
        return {weight.path: weight.rank for weight in self.weights if weight.rank is not None}

    @property
    def families(self) -> dict[str, Family]:
        """For `plait.bayesianize(posterior=...)`, to build a model that `plait.load(like=...)` takes."""
        return tied_families(self.model, {})

    def table(self) -> Table:
        """One row for each weight matrix."""
        columns = ("weight", "matrix", "rank", "KL", "KL of plain SVD", "numbers", "before")
        rows = [
            (
                weight.path,
                " × ".join(map(str, weight.shape)),
                *(("mean field", "", "") if weight.rank is None else _losses(weight)),
                *(f"{count:,}" for count in reversed(weight.numbers)),
            )
            for weight in self.weights
        ]
        return Table(columns, rows, left=2)

    def __str__(self) -> str:
        before, after = self.bytes
        lines = [
            self.table().text(),
            f"KL(tied || mean field): {self.loss:.4g} nats",
            f"trained numbers: {before:,} bytes before, {after:,} after ({100 * after / before:.1f} %)",
        ]
        if self.kl is not None:
            lines.append(f"KL(q || prior): {self.kl[0]:.1f} nats before, {self.kl[1]:.1f} after")
        if self.negative_elbo is not None:
            lines.append("-ELBO per example: {:.4f} before, {:.4f} after".format(*self.negative_elbo))
        return "\n".join(lines)


def compress(
    bnn: BayesianModel,
    rank: int | Mapping[str, int] | None = None,
    *,
    budget: float | None = None,
    max_rise: float | None = None,
    same_rank: bool = False,
    max_rank: int = MAX_RANK,
    score: Score | None = None,
) -> Compression:
    """Tie the standard deviations of a trained mean field.

    Args:
        bnn: a model with weight matrices under `MeanField`; all other weights stay as they are.
        rank: for every matrix of which it saves numbers; or an ordered mapping from path patterns or site kinds to
            ranks, as for `bayesianize`, which is followed to the letter. Or instead:
        budget: the smallest ranks whose losses are together under so many nats; see `choose_ranks`, also for
            `same_rank` and `max_rank`.
        max_rise: the smallest rank for all with which `score` rises by no more than this.
        same_rank: one rank for all weights, under a `budget`.
        max_rank: the largest rank to try.
        score: measures the negative ELBO per example of a model, to report it before and after.
    """
    if sum(value is not None for value in (rank, budget, max_rise)) != 1:
        raise ValueError("say how far to compress by exactly one of `rank`, `budget` and `max_rise`")
    if max_rise is not None:
        return _least_rank(bnn, max_rise, max_rank, score)
    rows = compressible_rows(bnn)
    given = {row.path: log_std_of(bnn, row) for row in rows}
    if budget is not None:
        ties = (equal_ties if same_rank else fitting_ties)(given, budget, max_rank=max_rank)
    elif isinstance(rank, Mapping):
        ranks: Choice[int | None] = Choice("rank", rank, [(row.path, row.kind) for row in rows], None)
        wanted = {row.path: ranks.of(row.path, row.kind) for row in rows}
        ties = {path: tie(given[path], check_rank(k)) for path, k in wanted.items() if k is not None}
    else:
        k = check_rank(rank)
        ties = {path: tie(matrix, k) for path, matrix in given.items() if saves(matrix.shape, k)}
    new = {row.path: _tied(bnn, row.path, ties[row.path]) for row in rows if row.path in ties}
    posteriors = bnn.posteriors | {path: posterior for path, (_, posterior) in new.items()}
    names = {path: family.describe() for path, (family, _) in new.items()}
    compressed = exchange(bnn, posteriors, bnn.joints, names)
    found = Compression(
        compressed,
        tuple(_report(row.path, given[row.path], ties.get(row.path)) for row in rows),
        (_trained_bytes(bnn), _trained_bytes(compressed)),
        None if any(row.kl == "Monte Carlo" for row in bnn.sites) else (float(bnn.kl()), float(compressed.kl())),
    )
    return found if score is None else replace(found, negative_elbo=(float(score(bnn)), float(score(compressed))))


def _least_rank(bnn: BayesianModel, max_rise: float, max_rank: int, score: Score | None) -> Compression:
    check_budget(max_rise, "max_rise")
    if score is None:
        raise ValueError("`max_rise` bounds how much a score rises: pass `score=`, a function of a model")
    before, rises = float(score(bnn)), []
    for rank in range(1, check_rank(max_rank) + 1):
        found = compress(bnn, rank)
        after = float(score(found.model))
        if after - before <= max_rise:
            return replace(found, negative_elbo=(before, after))
        rises.append(f"{after - before:.4g}")
    raise ValueError(
        f"no rank up to {max_rank} keeps the rise under {max_rise:g}: by rank the score rises by {', '.join(rises)}; "
        "raise `max_rise` or `max_rank`"
    )


def _tied(bnn: BayesianModel, path: str, ties: Ties) -> tuple[Family, Posterior]:
    posterior = bnn.posteriors[path]
    dtype = posterior.mean.dtype
    rows, columns = jnp.asarray(ties.row_log_scale, dtype), jnp.asarray(ties.column_log_scale, dtype)
    return Tied(ties.rank), TiedPosterior(posterior.mean, rows, columns, posterior.layout)


def _report(path: str, log_std: np.ndarray, ties: Ties | None) -> TiedWeight:
    shape = (log_std.shape[0], log_std.shape[1])
    if ties is None:
        return TiedWeight(path, shape, None, 0.0, 0.0, 0.0, (log_std.size, log_std.size))
    plain = np.log(np.maximum(low_rank(np.exp(log_std), ties.rank), FLOOR))
    numbers = ties.row_log_scale.size + ties.column_log_scale.size
    losses = (ties.loss, ties.start_loss, kl_of_stds(plain, log_std))
    return TiedWeight(path, shape, ties.rank, *losses, (log_std.size, numbers))


def _losses(weight: TiedWeight) -> tuple[str, str, str]:
    return str(weight.rank), f"{weight.loss:.4g}", f"{weight.svd_loss:.4g}"


def _trained_bytes(bnn: BayesianModel) -> int:
    trained: Any = (bnn.posteriors, bnn.joints, bnn.priors)
    return sum(
        math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(trained) if hasattr(leaf, "dtype")
    )
