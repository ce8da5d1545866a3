"""Posterior families by name, each with the options that it knows."""

from collections.abc import Callable
from functools import partial
from typing import Literal

from plait.posterior import (
    Family,
    FullCovariance,
    LowRank,
    MatrixNormal,
    MatrixNormalPlusDiagonal,
    MeanField,
    Point,
    RankOne,
    Tied,
)

PosteriorName = Literal[
    "tied",
    "mean-field",
    "matrix-normal",
    "diagonal-matrix-normal",
    "matrix-normal-plus-diagonal",
    "low-rank",
    "full-covariance",
    "rank-1",
    "rank-1-cauchy",
    "point",
]

POSTERIORS: dict[PosteriorName, tuple[Callable[..., Family], tuple[str, ...]]] = {
    "tied": (Tied, ("rank", "init_scale")),
    "mean-field": (MeanField, ("init_scale",)),
    "matrix-normal": (MatrixNormal, ("init_scale",)),
    "diagonal-matrix-normal": (partial(MatrixNormal, "diagonal", "diagonal"), ("init_scale",)),
    "matrix-normal-plus-diagonal": (MatrixNormalPlusDiagonal, ("init_scale",)),
    "low-rank": (LowRank, ("rank", "init_scale")),
    "full-covariance": (FullCovariance, ("init_scale",)),
    "rank-1": (RankOne, ("components",)),
    "rank-1-cauchy": (partial(RankOne, family="cauchy"), ("components",)),
    "point": (Point, ()),
}


def make_posterior(
    name: PosteriorName, *, rank: int | None = None, init_scale: float | None = None, components: int | None = None
) -> Family:
    """The family; options that are None are at its defaults, and those it does not know are refused."""
    make, known = POSTERIORS[name]
    options = {"rank": rank, "init_scale": init_scale, "components": components}
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in known:
            owners = [other for other, (_, names) in POSTERIORS.items() if option in names]
            raise ValueError(f"`{option}` is an option of the posteriors {', '.join(owners)}, not of {name!r}")
    return make(**given)
