"""Zeros in posteriors, and smaller models without them."""

from plait.sparsity.masks import with_masks as with_masks
from plait.sparsity.report import LayerReport as LayerReport
from plait.sparsity.report import Report as Report
from plait.sparsity.rule import Budget as Budget
from plait.sparsity.rule import LogAlpha as LogAlpha
from plait.sparsity.rule import Rule as Rule
from plait.sparsity.rule import SignalToNoise as SignalToNoise
from plait.sparsity.shrink import Shrunk as Shrunk
from plait.sparsity.shrink import shrink as shrink
from plait.sparsity.sparsify import Sparsified as Sparsified
from plait.sparsity.sparsify import sparsify as sparsify
