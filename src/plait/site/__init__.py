"""Where a weight meets an activation: contraction, convolution, row lookup, elementwise shift and scale."""

from plait.site.base import Site as Site
from plait.site.convolution import ConvolutionSite as ConvolutionSite
from plait.site.dense import DenseSite as DenseSite
from plait.site.elementwise import BiasSite as BiasSite
from plait.site.elementwise import ScaleSite as ScaleSite
from plait.site.layout import Atom as Atom
from plait.site.layout import Kept as Kept
from plait.site.layout import Layout as Layout
from plait.site.lookup import LookupSite as LookupSite
from plait.site.view import WeightView as WeightView

SITES: tuple[type[Site], ...] = (DenseSite, ConvolutionSite, LookupSite, BiasSite, ScaleSite)
"""Every kind of site, tried in this order. A new site is one file and one entry here."""

KINDS: tuple[str, ...] = (*(site.kind for site in SITES), "other")
"""The kinds that configuration mappings may name; "other" is a weight no site consumes."""
