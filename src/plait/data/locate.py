"""Where a set's files are: the first of these folders that holds one of its forms.

data_dir argument  >  PLAIT_DATA  >  ../shared/data beside the current folder or the checkout  >  user cache
"""

import os
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from plait.data.sets.entry import Entry, Form

VARIABLE = "PLAIT_DATA"


@dataclass(frozen=True)
class Search:
    """What was found, and where was looked."""

    folders: tuple[Path, ...]
    form: Form | None = None
    paths: tuple[Path, ...] = ()
    rejected: list[str] = field(default_factory=list)
    """Files with the right name that are of another kind."""


def cache_dir() -> Path:
    """The folder of downloads."""
    import pooch

    return Path(pooch.os_cache("plait"))


def data_folders(data_dir: str | os.PathLike[str] | None = None) -> tuple[Path, ...]:
    """The folders to search, those that exist; one that was named must."""
    named = {"data_dir": data_dir, f"the variable {VARIABLE}": os.environ.get(VARIABLE) or None}
    folders = []
    for what, value in named.items():
        if value is not None:
            folder = Path(value).expanduser()
            if not folder.is_dir():
                raise FileNotFoundError(f"{what} names the folder {folder}, which does not exist")
            folders.append(folder)
    folders += [base.parent / "shared" / "data" for base in _bases()] + [cache_dir()]
    return tuple(dict.fromkeys(folder.resolve() for folder in folders if folder.is_dir()))


def _bases() -> list[Path]:
    """The folders beside which shared data may lie: the current one, and the checkout if this is one."""
    checkout = Path(__file__).parents[3]
    return [Path.cwd(), *([checkout] if (checkout / "pyproject.toml").is_file() else [])]


def search(entry: Entry, data_dir: str | os.PathLike[str] | None = None) -> Search:
    """The first form of the set that the folders hold."""
    folders = data_folders(data_dir)
    embedded = next((form for form in entry.forms if not form.files), None)
    if embedded is not None:
        return Search(folders, embedded)
    rejected: list[str] = []
    for folder in folders:
        for form in entry.forms:
            paths = tuple(folder / file for file in form.files)
            if not all(path.is_file() for path in paths):
                continue
            reason = _mismatch(form, paths)
            if reason is None:
                return Search(folders, form, paths)
            if reason not in rejected:
                rejected.append(reason)
    return Search(folders, rejected=rejected)


def _mismatch(form: Form, paths: tuple[Path, ...]) -> str | None:
    if not form.keys:
        return None
    # By the archive's table of contents: nothing is unpacked to see whether a file is the right one.
    try:
        with zipfile.ZipFile(paths[0]) as archive:
            present = {name.removesuffix(".npy") for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError) as error:
        return f"{paths[0]} is no readable npz file ({error})"
    missing = [key for key in form.keys if key not in present]
    return f"{paths[0]} has no {', '.join(missing)}" if missing else None
