"""Noisy natural gradient: optimizers of `plait.fit` whose curvature is the posterior's precision (paper 004)."""

from plait.natural.ivon import IVON as IVON
from plait.natural.matrix_normal_factors import natural_factors as natural_factors
from plait.natural.method import NaturalGradient as NaturalGradient
from plait.natural.method import NaturalState as NaturalState
from plait.natural.noisy_adam import NoisyAdam as NoisyAdam
from plait.natural.noisy_block_tridiagonal import NoisyBlockTridiagonal as NoisyBlockTridiagonal
from plait.natural.noisy_ekfac import NoisyEKFAC as NoisyEKFAC
from plait.natural.noisy_full import NoisyFull as NoisyFull
from plait.natural.noisy_kfac import NoisyKFAC as NoisyKFAC
from plait.natural.noisy_tied import NoisyTied as NoisyTied
