"""Corrupted pictures, to see how predictions fare where the data has changed."""

from plait.data.corruption.corrupting import SEVERITIES as SEVERITIES
from plait.data.corruption.corrupting import corrupt as corrupt
from plait.data.corruption.published import PublishedCorruptions as PublishedCorruptions
from plait.data.corruption.severities import COMMON as COMMON
from plait.data.corruption.severities import EXTRA as EXTRA
from plait.data.corruption.severities import GEOMETRIC as GEOMETRIC
