"""Models in one file, and training runs in a folder that survives a crash. Nothing is pickled."""

from plait.checkpoint.folder import CheckpointFolder as CheckpointFolder
from plait.checkpoint.folder import Saved as Saved
from plait.checkpoint.model_file import load as load
from plait.checkpoint.model_file import save as save
