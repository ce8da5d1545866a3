"""A part of a study in a folder of its own, which is not done twice and goes on where it was stopped.

settings.json    what the folder is of: another part cannot go on in it
done.json        written last
history.csv and history.json, and while it trains checkpoints/ and seconds.json
"""

import json
import shutil
from pathlib import Path
from typing import Any

from plait.checkpoint.atomic import write_whole
from plait.fit import Fit


def claim(folder: Path, settings: dict[str, Any]) -> None:
    """Make the folder, or see that it is of the same run."""
    path = folder / "settings.json"
    # As they come back from a file: tuples are lists there.
    settings = json.loads(json.dumps(settings))
    if path.is_file():
        before = read_json(path)
        changed = [name for name in settings if before.get(name) != settings[name]]
        if changed:
            raise ValueError(
                f"{folder} holds training with other settings ({', '.join(changed)}): choose another `output`, or "
                "delete the folder"
            )
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_json(path, settings)


def add_seconds(folder: Path, seconds: float) -> float:
    """Together with those of the parts before a stop."""
    path = folder / "seconds.json"
    total = seconds + (read_json(path)["seconds"] if path.is_file() else 0.0)
    write_json(path, {"seconds": total})
    return total


def stop_if_interrupted(found: Fit) -> None:
    """Ctrl-C ends the study, too."""
    if found.interrupted:
        raise KeyboardInterrupt


def finish(folder: Path, found: Fit, done: dict[str, Any]) -> None:
    """Keep the history, drop the checkpoints."""
    found.history.to_csv(folder / "history.csv")
    found.history.to_json(folder / "history.json")
    write_json(folder / "done.json", done)
    (folder / "seconds.json").unlink()
    shutil.rmtree(folder / "checkpoints")


def read_json(path: Path) -> Any:
    """What was written."""
    return json.loads(path.read_text())


def write_json(path: Path, content: Any) -> None:
    """Whole, or not at all."""
    write_whole(path, (json.dumps(content, indent=1) + "\n").encode())
