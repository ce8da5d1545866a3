"""Models in one file, training runs in a folder that survives a crash, files of others. Nothing is pickled."""

from plait.checkpoint.compressed_file import FileCompression as FileCompression
from plait.checkpoint.compressed_file import compress_file as compress_file
from plait.checkpoint.compressed_file import decompress_file as decompress_file
from plait.checkpoint.folder import CheckpointFolder as CheckpointFolder
from plait.checkpoint.folder import Saved as Saved
from plait.checkpoint.model_file import load as load
from plait.checkpoint.model_file import save as save
