"""The folder of one part of a study: it says what it is of, is done when done.json is there, and is not done twice."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plait.checkpoint.atomic import write_whole


class PartFolder:
    """A folder; what is in it belongs to the settings that it was made with."""

    def __init__(self, path: Path, settings: Mapping[str, Any]):
        self.path = path
        known, wanted = path / "settings.json", json.loads(json.dumps(dict(settings)))
        if known.is_file():
            before = json.loads(known.read_text())
            changed = sorted(name for name in before.keys() | wanted.keys() if before.get(name) != wanted.get(name))
            if changed:
                raise ValueError(
                    f"{path} holds work with other settings ({', '.join(changed)}): choose another `output`, or delete "
                    "the folder"
                )
            return
        path.mkdir(parents=True, exist_ok=True)
        _write(known, wanted)

    @property
    def is_done(self) -> bool:
        """Whether `finish` was called."""
        return (self.path / "done.json").is_file()

    def finish(self, content: Mapping[str, Any]) -> None:
        """Keep what was found; the last thing to be written."""
        _write(self.path / "done.json", content)

    def read(self) -> Any:
        """What `finish` was given."""
        return json.loads((self.path / "done.json").read_text())


def _write(path: Path, content: Mapping[str, Any]) -> None:
    write_whole(path, (json.dumps(content, indent=1) + "\n").encode())
