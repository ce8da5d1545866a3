"""Checkpoints of a training run in a folder: the arrays through orbax, then a manifest that makes them count.

    step-000000400/arrays/          what orbax wrote
    step-000000400/manifest.json    everything that is no array, and size and checksum of every file

The manifest is written last and deleted first. A process that dies at any moment leaves a step without one, which is as
good as not there; a file that is cut off or altered is found before it is read.
"""

import json
import os
import re
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax

from plait._typing import PyTree
from plait.checkpoint.arrays import arrays_of, differences, key_kinds, kinds_of, shorten, with_arrays
from plait.checkpoint.atomic import write_whole

FORMAT = "plait checkpoint 1"
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Saved:
    """One checkpoint."""

    step: int
    tree: PyTree
    notes: dict[str, Any]
    """What was saved beside the arrays."""


class CheckpointFolder:
    """A folder that keeps the last `keep` checkpoints, and the one with the lowest score."""

    def __init__(self, folder: str | os.PathLike[str], *, keep: int = 3):
        if isinstance(keep, bool) or keep < 1:
            raise ValueError(f"`keep` is a number of checkpoints and must be at least 1, got {keep!r}")
        self.path = Path(os.path.abspath(folder))
        self.keep = keep

    def steps(self) -> list[int]:
        """The steps there are complete checkpoints of, in order."""
        return [step for step in self._begun() if (self.folder_of(step) / MANIFEST).is_file()]

    def prepare(self, tree: PyTree) -> None:
        """Make the folder, and find out now whether checkpoints of such a tree can be written to it."""
        needed = (self.keep + 2) * sum(array.nbytes for array in arrays_of(tree).values())
        probe = self.path / f"probe.{os.getpid()}"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            write_whole(probe, b"plait")
            probe.unlink()
            free = shutil.disk_usage(self.path).free
        except OSError as error:
            raise OSError(
                error.errno, f"no checkpoints can be written to {self.path} ({error.strerror}); choose another folder"
            ) from error
        if free < needed:
            raise OSError(
                f"checkpoints in {self.path} need about {needed / 1e6:.1f} MB (the last {self.keep}, the best and the "
                f"one being written), {free / 1e6:.1f} MB are free; free some, keep fewer, or choose another folder"
            )

    def save(self, step: int, tree: PyTree, notes: Mapping[str, Any], *, score: float | None = None) -> None:
        """Write a checkpoint, then delete those that are no longer kept."""
        from orbax.checkpoint import Checkpointer, StandardCheckpointHandler, args

        folder = self.folder_of(step)
        if jax.process_index() == 0 and folder.is_dir():
            self._delete(step)
        arrays = arrays_of(tree)
        with Checkpointer(StandardCheckpointHandler()) as checkpointer:
            # Orbax writes nothing for an array without entries, and refuses it.
            full = {name: array for name, array in arrays.items() if array.size}
            checkpointer.save(folder / "arrays", args=args.StandardSave(full))
        if jax.process_index() != 0:
            return
        manifest = {
            "format": FORMAT,
            "plait": version("plait"),
            "step": step,
            "score": score,
            "notes": dict(notes),
            "arrays": kinds_of(arrays),
            "keys": key_kinds(tree),
            "files": _fingerprints(folder),
        }
        write_whole(folder / MANIFEST, json.dumps(manifest).encode())
        self._delete_all_but_kept()

    def restore(self, like: PyTree, *, step: int | None = None) -> Saved:
        """A checkpoint, by default the last. `like` has the arrays that are wanted, in shape, dtype and placement."""
        from orbax.checkpoint import Checkpointer, StandardCheckpointHandler, args

        step = self.last() if step is None else step
        folder = self.folder_of(step)
        manifest = self._manifest(step)
        damaged = differences(manifest["files"], _fingerprints(folder))
        if damaged:
            raise ValueError(f"{folder} is damaged: {self._way_out(step)}{shorten(damaged)}")
        arrays = arrays_of(like)
        wrong = differences(manifest["arrays"], kinds_of(arrays)) + differences(manifest["keys"], key_kinds(like))
        if wrong:
            raise ValueError(
                f"{folder} is of another model or optimizer than this one; build them as before or choose another "
                f"folder:{shorten(wrong)}"
            )
        wanted = {
            name: jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=getattr(array, "sharding", None))
            for name, array in arrays.items()
            if array.size
        }
        with Checkpointer(StandardCheckpointHandler()) as checkpointer:
            found = checkpointer.restore(folder / "arrays", args=args.StandardRestore(wanted))
        return Saved(step, with_arrays(like, arrays | found), manifest["notes"])

    def notes(self, *, step: int | None = None) -> dict[str, Any]:
        """What was saved beside the arrays, without reading these."""
        return self._manifest(self.last() if step is None else step)["notes"]

    def last(self) -> int:
        """The step of the last checkpoint."""
        steps = self.steps()
        if not steps:
            raise ValueError(f"{self.path} has no checkpoints of `plait.fit`")
        return steps[-1]

    def folder_of(self, step: int) -> Path:
        """Where the checkpoint of a step is."""
        return self.path / f"step-{step:09d}"

    def _begun(self) -> list[int]:
        """The steps that have a folder, complete or not."""
        entries = self.path.iterdir() if self.path.is_dir() else ()
        found = (re.fullmatch(r"step-(\d{9,})", entry.name) for entry in entries)
        return sorted(int(match[1]) for match in found if match)

    def _manifest(self, step: int) -> dict[str, Any]:
        path = self.folder_of(step) / MANIFEST
        try:
            manifest = json.loads(path.read_text())
            foreign = manifest.get("format") != FORMAT
        except (ValueError, AttributeError) as error:
            raise ValueError(f"{path} is damaged or foreign: {self._way_out(step)}") from error
        if foreign:
            raise ValueError(f"{path} was not written by `plait.fit`, or by another version: {self._way_out(step)}")
        return manifest

    def _way_out(self, step: int) -> str:
        before = [other for other in self.steps() if other < step]
        rest = f"to go on from step {before[-1]}" if before else "to start again"
        return f"delete the folder {self.folder_of(step).name} {rest}"

    def _delete_all_but_kept(self) -> None:
        steps = self.steps()
        scores = {step: score for step in steps if (score := self._score(step)) is not None}
        kept = {*steps[-self.keep :], *([min(scores, key=lambda step: scores[step])] if scores else [])}
        for step in self._begun():
            # What orbax left behind when it was killed is cleared away too, but nothing that others put there.
            names = [entry.name for entry in self.folder_of(step).iterdir()]
            own = step in steps or all(name.startswith(("arrays", f".{MANIFEST}")) for name in names)
            if own and step not in kept:
                self._delete(step)

    def _score(self, step: int) -> float | None:
        try:
            return self._manifest(step)["score"]
        except ValueError:
            return None

    def _delete(self, step: int) -> None:
        (self.folder_of(step) / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(self.folder_of(step))


def _fingerprints(folder: Path) -> dict[str, str]:
    """Size and checksum of every file."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {str(file.relative_to(folder)): f"{file.stat().st_size} bytes, {_checksum(file):08x}" for file in files}


def _checksum(path: Path) -> int:
    value = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            value = zlib.crc32(block, value)
    return value
