"""A part of a study, done once, in a folder of its own; one that was stopped goes on where it was.

settings.json   what the folder is of: another part cannot go on in it
done.json       written last: what was found
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from plait.checkpoint.atomic import write_whole
from plait.fit import History

SECONDS = "seconds"


class Part:
    """The folder; what was found before is refused if it was found with other settings."""

    def __init__(self, path: Path, settings: dict[str, Any]):
        self.path = path
        # As they come back from a file.
        settings = json.loads(json.dumps(settings))
        file = path / "settings.json"
        if not file.is_file():
            path.mkdir(parents=True, exist_ok=True)
            write_json(file, settings)
            return
        before = json.loads(file.read_text())
        changed = [name for name in before | settings if before.get(name) != settings.get(name)]
        if changed:
            raise ValueError(
                f"{path} holds a part of a study with other settings ({', '.join(changed)}): choose another `output`, "
                "or delete the folder"
            )

    @property
    def is_done(self) -> bool:
        """Whether everything was found."""
        return (self.path / "done.json").is_file()

    def once(self, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What the work finds, or what it found before; its seconds add up over stops."""
        if not self.is_done:
            spent, start = self.path / "spent.json", time.perf_counter()
            before = json.loads(spent.read_text())[SECONDS] if spent.is_file() else 0.0
            try:
                found = work()
            finally:
                seconds = before + time.perf_counter() - start
                write_json(spent, {SECONDS: seconds})
            write_json(self.path / "done.json", found | {SECONDS: seconds})
            spent.unlink()
        return json.loads((self.path / "done.json").read_text())

    def write_history(self, history: History) -> None:
        """Both files of it."""
        history.to_csv(self.path / "history.csv")
        history.to_json(self.path / "history.json")

    def history(self) -> History:
        """What was written; numbers that were not finite are NaN again."""
        rows = json.loads((self.path / "history.json").read_text())
        return History([{name: np.nan if value is None else value for name, value in row.items()} for row in rows])


def write_json(path: Path, content: Any) -> None:
    """A file, whole or not at all."""
    write_whole(path, (json.dumps(content, indent=1) + "\n").encode())


def seconds_per_step(history: History) -> float:
    """The median over epochs but the first, which has the compilation in it."""
    pace = history["steps_per_second"][1:] if len(history) > 1 else history["steps_per_second"]
    return 1 / float(np.median(pace))
