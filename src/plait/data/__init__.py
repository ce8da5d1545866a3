"""Data sets by name, and files of one's own: found on this machine or downloaded, checked, and cut into parts."""

from plait.data.availability import Availability as Availability
from plait.data.availability import available as available
from plait.data.dataset import Dataset as Dataset
from plait.data.dataset import Pair as Pair
from plait.data.loading import load as load
from plait.data.locate import cache_dir as cache_dir
from plait.data.locate import data_folders as data_folders
from plait.data.registry import names as names
from plait.data.standardizer import Standardizer as Standardizer
from plait.data.user_file import load_inputs as load_inputs
