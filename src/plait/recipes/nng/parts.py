"""A part of a study that is done once: its numbers in a file, with the settings that they were found with."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from plait.checkpoint.arrays import differences, shorten
from plait.checkpoint.atomic import write_whole


def done_once(path: Path, settings: Mapping[str, Any], compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What is in the file, or what is computed now and written there."""
    plain = json.loads(json.dumps(dict(settings)))
    if path.is_file():
        saved = json.loads(path.read_text())
        changed = differences(saved["settings"], plain)
        if changed:
            raise ValueError(
                f"{path} was found with other settings: choose another `output`, or delete it{shorten(changed)}"
            )
        return saved["found"]
    found = compute()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps({"settings": plain, "found": found}, indent=1).encode())
    return found
