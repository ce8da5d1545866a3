"""A small interpreter that runs a traced model with some of its weights random."""

from plait.trace.discover import SiteUse as SiteUse
from plait.trace.discover import discover as discover
from plait.trace.example_axis import example_axes as example_axes
from plait.trace.interpret import Handler as Handler
from plait.trace.interpret import carry as carry
from plait.trace.interpret import interpret as interpret
from plait.trace.interpret import match_site as match_site
from plait.trace.program import Program as Program
from plait.trace.program import trace as trace
