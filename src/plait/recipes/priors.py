"""Priors by name."""

from collections.abc import Callable
from typing import Literal

from plait.prior import Cauchy, HeNormal, LearnedNormal, Normal, Prior, ScaleMixture

PriorName = Literal["learned-normal", "he-normal", "normal", "scale-mixture", "cauchy"]

PRIORS: dict[PriorName, Callable[..., Prior]] = {
    "learned-normal": LearnedNormal,
    "he-normal": HeNormal,
    "normal": Normal,
    "scale-mixture": ScaleMixture,
    "cauchy": Cauchy,
}


def make_prior(name: PriorName, scale: float | None = None) -> Prior:
    """The prior; `scale` is its standard deviation, where it has one to choose, or what a learned one starts at."""
    if scale is None:
        return PRIORS[name]()
    if name == "he-normal":
        raise ValueError("`prior_scale` is not for 'he-normal', whose scales follow from the layers; use 'normal'")
    return PRIORS[name](wide=scale) if name == "scale-mixture" else PRIORS[name](scale=scale)
