"""Priors by name. Those of ARD fit a variance for each weight, or for each row and column, and make weights zero."""

from collections.abc import Callable
from typing import Literal

from plait.prior import ARD, Cauchy, GroupARD, HeNormal, LearnedNormal, Normal, Prior, ScaleMixture

PriorName = Literal["learned-normal", "he-normal", "normal", "scale-mixture", "cauchy", "ard", "group-ard"]

PRIORS: dict[PriorName, Callable[..., Prior]] = {
    "learned-normal": LearnedNormal,
    "he-normal": HeNormal,
    "normal": Normal,
    "scale-mixture": ScaleMixture,
    "cauchy": Cauchy,
    "ard": ARD,
    "group-ard": GroupARD,
}
WITHOUT_SCALE = ("he-normal", "ard", "group-ard")


def make_prior(name: PriorName, scale: float | None = None) -> Prior:
    """The prior; `scale` is its standard deviation, where it has one to choose, or what a learned one starts at."""
    if scale is None:
        return PRIORS[name]()
    if name in WITHOUT_SCALE:
        raise ValueError(f"`prior_scale` is not for {name!r}, whose scales follow from the weights; use 'normal'")
    return PRIORS[name](wide=scale) if name == "scale-mixture" else PRIORS[name](scale=scale)
