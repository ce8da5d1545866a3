"""Files that are there whole or not at all: written under another name, flushed to the disk, then renamed."""

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file; if that fails, what was there before stays."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise ValueError(f"the folder {path.parent} does not exist; make it first")
    # One name for each process, so that two of them do not write into each other's file.
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
