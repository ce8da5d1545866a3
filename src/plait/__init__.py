"""Structured Gaussian variational inference for any JAX model."""

from plait import estimator as estimator
from plait import linalg as linalg
from plait import posterior as posterior
from plait import prior as prior
from plait import site as site
from plait.model import BayesianModel as BayesianModel
from plait.model import bayesianize as bayesianize
from plait.posterior import Family as Family
from plait.posterior import FullCovariance as FullCovariance
from plait.posterior import LowRank as LowRank
from plait.posterior import MatrixNormal as MatrixNormal
from plait.posterior import MatrixNormalPlusDiagonal as MatrixNormalPlusDiagonal
from plait.posterior import MeanField as MeanField
from plait.posterior import Point as Point
from plait.posterior import Posterior as Posterior
from plait.posterior import RankOne as RankOne
from plait.posterior import Tied as Tied
from plait.prior import Cauchy as Cauchy
from plait.prior import HeNormal as HeNormal
from plait.prior import LearnedNormal as LearnedNormal
from plait.prior import Normal as Normal
from plait.prior import ScaleMixture as ScaleMixture
