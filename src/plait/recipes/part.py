"""A part of a study, done once, in a folder of its own; one that was stopped goes on where it was.

settings.json   what the folder is of: another part cannot go on in it
done.json       written last: what was found
spent.json      seconds before a stop, and checkpoints/ of training: only while it is not done
"""

import json
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from plait.checkpoint.arrays import differences, shorten
from plait.checkpoint.atomic import write_whole
from plait.fit import Fit, History

SECONDS = "seconds"


class Part:
    """The folder; what was found before is refused if it was found with other settings."""

    def __init__(self, path: Path, settings: Mapping[str, Any]):
        self.path = path
        # As they come back from a file.
        plain = json.loads(json.dumps(dict(settings)))
        file = path / "settings.json"
        if not file.is_file():
            path.mkdir(parents=True, exist_ok=True)
            write_json(file, plain)
        elif changed := differences(read_json(file), plain):
            raise ValueError(
                f"{path} holds a part of a study with other settings: choose another `output`, or delete the folder"
                f"{shorten(changed)}"
            )

    @property
    def checkpoints(self) -> Path:
        """Where training keeps its checkpoints until the part is done."""
        return self.path / "checkpoints"

    @property
    def is_done(self) -> bool:
        """Whether everything was found."""
        return (self.path / "done.json").is_file()

    def once(self, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What the work finds, or what it found before; its seconds add up over stops, where it does not count them."""
        if not self.is_done:
            spent, start = self.path / "spent.json", time.perf_counter()
            before = read_json(spent)[SECONDS] if spent.is_file() else 0.0
            try:
                found = work()
            finally:
                seconds = before + time.perf_counter() - start
                write_json(spent, {SECONDS: seconds})
            write_json(self.path / "done.json", {SECONDS: seconds} | found)
            spent.unlink()
            shutil.rmtree(self.checkpoints, ignore_errors=True)
        return read_json(self.path / "done.json")

    def keep(self, found: Fit) -> None:
        """The history of training, in both its files; one that Ctrl-C ended stops the study."""
        if found.interrupted:
            raise KeyboardInterrupt
        found.history.to_csv(self.path / "history.csv")
        found.history.to_json(self.path / "history.json")

    def history(self) -> History:
        """What was kept; numbers that were not finite are NaN again."""
        rows = read_json(self.path / "history.json")
        return History([{name: np.nan if value is None else value for name, value in row.items()} for row in rows])


def read_json(path: Path) -> Any:
    """What was written."""
    return json.loads(path.read_text())


def write_json(path: Path, content: Any) -> None:
    """A file, whole or not at all."""
    write_whole(path, (json.dumps(content, indent=1) + "\n").encode())


def seconds_per_step(history: History) -> float:
    """The median over epochs but the first, which has the compilation in it."""
    pace = history["steps_per_second"][1:] if len(history) > 1 else history["steps_per_second"]
    return 1 / float(np.median(pace))
