"""Priors over weights. One file for each; the KL against every family follows from the cross-entropy."""

from plait.prior.ard import ARD as ARD
from plait.prior.base import Prior as Prior
from plait.prior.cauchy import Cauchy as Cauchy
from plait.prior.group_ard import GroupARD as GroupARD
from plait.prior.hierarchical import HierarchicalNormal as HierarchicalNormal
from plait.prior.log_normal import LogNormal as LogNormal
from plait.prior.normal import HeNormal as HeNormal
from plait.prior.normal import LearnedNormal as LearnedNormal
from plait.prior.normal import Normal as Normal
from plait.prior.normal_mixture import NormalMixture as NormalMixture
from plait.prior.sampled import Sampled as Sampled
from plait.prior.scale_mixture import ScaleMixture as ScaleMixture
