"""Distributions over weights. One file for each family: what a user asks for, and the value it becomes."""

from plait.posterior.base import Family as Family
from plait.posterior.base import Posterior as Posterior
from plait.posterior.base import StructuredDraw as StructuredDraw
from plait.posterior.block_tridiagonal import BlockTridiagonalPosterior as BlockTridiagonalPosterior
from plait.posterior.block_tridiagonal import ChainedLayer as ChainedLayer
from plait.posterior.cauchy import CauchyPosterior as CauchyPosterior
from plait.posterior.draws import DrawsPosterior as DrawsPosterior
from plait.posterior.dropped import DroppedPosterior as DroppedPosterior
from plait.posterior.eigenbasis import Eigenbasis as Eigenbasis
from plait.posterior.eigenbasis import EigenbasisPosterior as EigenbasisPosterior
from plait.posterior.full_covariance import FullCovariance as FullCovariance
from plait.posterior.full_covariance import FullCovariancePosterior as FullCovariancePosterior
from plait.posterior.full_covariance import JointFullCovariancePosterior as JointFullCovariancePosterior
from plait.posterior.joint import JointFamily as JointFamily
from plait.posterior.joint import JointPosterior as JointPosterior
from plait.posterior.layer import LayerPosterior as LayerPosterior
from plait.posterior.layer_matrix import LayerMatrix as LayerMatrix
from plait.posterior.log_normal import LogNormalPosterior as LogNormalPosterior
from plait.posterior.low_rank import LowRank as LowRank
from plait.posterior.low_rank import LowRankPosterior as LowRankPosterior
from plait.posterior.masked import MaskedPosterior as MaskedPosterior
from plait.posterior.matrix_normal import MatrixNormal as MatrixNormal
from plait.posterior.matrix_normal import MatrixNormalPosterior as MatrixNormalPosterior
from plait.posterior.matrix_normal_plus_diagonal import MatrixNormalPlusDiagonal as MatrixNormalPlusDiagonal
from plait.posterior.matrix_normal_plus_diagonal import (
    MatrixNormalPlusDiagonalPosterior as MatrixNormalPlusDiagonalPosterior,
)
from plait.posterior.mean_field import MeanField as MeanField
from plait.posterior.mean_field import MeanFieldPosterior as MeanFieldPosterior
from plait.posterior.point import Point as Point
from plait.posterior.point import PointPosterior as PointPosterior
from plait.posterior.rank_one import RankOne as RankOne
from plait.posterior.rank_one import RankOnePosterior as RankOnePosterior
from plait.posterior.tied import Tied as Tied
from plait.posterior.tied import TiedPosterior as TiedPosterior
from plait.posterior.tied_precision import TiedPrecision as TiedPrecision
from plait.posterior.tied_precision import TiedPrecisionPosterior as TiedPrecisionPosterior
