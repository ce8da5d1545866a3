"""Which sets are on this machine, for a listing."""

import os
from dataclasses import dataclass

from plait.data.dataset import Task
from plait.data.download import megabytes, reachable
from plait.data.locate import search
from plait.data.registry import ENTRIES


@dataclass(frozen=True)
class Availability:
    """One row of the listing."""

    name: str
    title: str
    task: Task
    train: int
    validation: int
    test: int
    input_shape: tuple[int, ...]
    present: bool
    where: str
    """A folder, 'in scikit-learn', 'download 11 MB', or 'not available offline (11 MB)'."""


def available(data_dir: str | os.PathLike[str] | None = None, *, check_network: bool = False) -> list[Availability]:
    """All sets with a name and where they are; `check_network` asks whether those that are not could be had now."""
    hosts: dict[str, bool] = {}
    rows = []
    for entry in ENTRIES.values():
        found = search(entry, data_dir)
        form = entry.download
        if found.form is not None:
            where = str(found.paths[0].parent) if found.paths else "in scikit-learn"
        elif form is None:
            where = "not available"
        else:
            size = megabytes(sum(remote.size for remote in form.remotes))
            url = form.remotes[0].url
            host = url.split("/")[2]
            if check_network and host not in hosts:
                hosts[host] = reachable(url)
            where = f"download {size}" if hosts.get(host, True) else f"not available offline ({size})"
        rows.append(
            Availability(
                entry.name, entry.title, entry.task, *entry.sizes, entry.input_shape, found.form is not None, where
            )
        )
    return rows
