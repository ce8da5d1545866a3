"""The rank of each weight from what it costs: nats of KL against numbers stored.

A weight of n x m has the options  rank k: loss L_k, k (n + m) numbers  for every k that saves numbers, and
mean field: loss 0, n m numbers. Under a budget for the sum of the losses, start from the fewest numbers, move to the
option that saves the most nats for each number, and at the end take back every move that was not needed.
"""

import glob
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plait.analysis.compressible import log_stds
from plait.analysis.low_rank import check_rank
from plait.analysis.tie import Ties, tie
from plait.model import BayesianModel
from plait.posterior import Family, MeanField, MeanFieldPosterior, Point, PointPosterior, Tied, TiedPosterior
from plait.site import KINDS

MAX_RANK = 8


@dataclass(frozen=True)
class Option:
    """One way to store the standard deviations of a weight."""

    loss: float
    numbers: int
    ties: Ties | None
    """None where they stay as they are."""


def saves(shape: tuple[int, ...], rank: int) -> bool:
    """Whether a tie of a rank stores fewer numbers than the matrix has."""
    return rank * sum(shape) < shape[0] * shape[1]


def fitting_ties(log_std: Mapping[str, np.ndarray], budget: float, *, max_rank: int = MAX_RANK) -> dict[str, Ties]:
    """Ties under a budget, in nats for all weights together; weights that are not named stay mean field."""
    check_budget(budget)
    options = {path: _options(matrix, check_rank(max_rank)) for path, matrix in log_std.items()}
    chosen = dict.fromkeys(options, 0)

    def loss(choice: Mapping[str, int]) -> float:
        return sum(options[path][index].loss for path, index in choice.items())

    while loss(chosen) > budget:
        moves = [
            (_gain(options[path][index], option), path, higher)
            for path, index in chosen.items()
            for higher, option in enumerate(options[path])
            if higher > index
        ]
        _, path, higher = max(moves)
        chosen[path] = higher
    for path in sorted(chosen, key=lambda path: -options[path][chosen[path]].numbers):
        while chosen[path] > 0 and loss(chosen | {path: chosen[path] - 1}) <= budget:
            chosen[path] -= 1
    return {path: ties for path, index in chosen.items() if (ties := options[path][index].ties) is not None}


def equal_ties(log_std: Mapping[str, np.ndarray], budget: float, *, max_rank: int = MAX_RANK) -> dict[str, Ties]:
    """Ties of the smallest rank for all that is under a budget."""
    check_budget(budget)
    loss = np.inf
    for rank in range(1, check_rank(max_rank) + 1):
        ties = {path: tie(matrix, rank) for path, matrix in log_std.items() if saves(matrix.shape, rank)}
        loss = sum(each.loss for each in ties.values())
        if loss <= budget:
            return ties
    raise ValueError(
        f"no rank up to {max_rank} for all weights has a loss under the budget of {budget:g} nats: rank {max_rank} "
        f"loses {loss:.4g}; raise `budget` or `max_rank`, or let ranks differ, `same_rank=False`"
    )


def choose_ranks(
    bnn: BayesianModel, budget: float, *, same_rank: bool = False, max_rank: int = MAX_RANK
) -> dict[str, int]:
    """The smallest ranks for the weights of a mean-field model whose losses are together under a budget.

    Args:
        bnn: a model with weight matrices under `MeanField`, after a short run for instance.
        budget: nats of KL(tied || mean field), all weights together: what the negative ELBO of the whole data set may
            rise by, to second order.
        same_rank: one rank for all weights.
        max_rank: the largest rank to try.

    Returns:
        Ranks by path. A weight that is better left a mean field, because a tie would lose too much or save nothing, has
        none.
    """
    choose = equal_ties if same_rank else fitting_ties
    return {path: ties.rank for path, ties in choose(log_stds(bnn), budget, max_rank=max_rank).items()}


def tied_families(bnn: BayesianModel, ranks: Mapping[str, int], *, init_scale: float = 0.01) -> dict[str, Family]:
    """The mapping for `plait.bayesianize(posterior=...)` that ties weights so, and leaves all others of their kind.

    Every weight has an entry, those with the longest paths first, since a short path also matches inside longer ones.
    """
    families: dict[str, Family] = {}
    for path in sorted((row.path for row in bnn.sites), key=lambda path: (-path.count("."), path)):
        posterior = bnn.posteriors.get(path)
        if path in ranks:
            family: Family = Tied(ranks[path], init_scale)
        elif isinstance(posterior, TiedPosterior):
            family = Tied(posterior.rank, init_scale)
        elif isinstance(posterior, MeanFieldPosterior):
            family = MeanField(init_scale, posterior.transform, posterior.max_scale)
        elif isinstance(posterior, PointPosterior):
            family = Point()
        else:
            name = next(row.posterior for row in bnn.sites if row.path == path)
            raise ValueError(f"ranks are for models of MeanField, Tied and Point weights; {path!r} is under {name}")
        families[_pattern(path)] = family
    unknown = [path for path in ranks if all(row.path != path for row in bnn.sites)]
    if unknown:
        known = ", ".join(row.path for row in bnn.sites)
        raise ValueError(f"`ranks` names {', '.join(map(repr, unknown))}; the weights of this model are {known}")
    return families


def check_budget(budget: float, name: str = "budget") -> None:
    """Refuse what is no budget."""
    if not budget >= 0:
        raise ValueError(f"`{name}` bounds a loss and must not be negative, got {budget!r}")


def _options(log_std: np.ndarray, max_rank: int) -> list[Option]:
    """By numbers stored; what costs more and loses no less is left out."""
    fan_in, fan_out = log_std.shape
    options: list[Option] = []
    for rank in range(1, max_rank + 1):
        if not saves(log_std.shape, rank):
            break
        ties = tie(log_std, rank)
        if not options or ties.loss < options[-1].loss:
            options.append(Option(ties.loss, rank * (fan_in + fan_out), ties))
    return [*options, Option(0.0, fan_in * fan_out, None)]


def _gain(now: Option, then: Option) -> float:
    return (now.loss - then.loss) / (then.numbers - now.numbers)


def _pattern(path: str) -> str:
    """A pattern that is taken for this path: its special characters, and the name of a site kind, in brackets."""
    return f"[{path[0]}]{path[1:]}" if path in KINDS else glob.escape(path)
