"""Fetching files from their public home into the user cache: checked by checksum, moved into place when whole."""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from plait.data.locate import cache_dir
from plait.data.sets.entry import Entry, Form


def download(entry: Entry, looked_in: Sequence[Path], rejected: Sequence[str]) -> tuple[Form, tuple[Path, ...]]:
    """The form that can be downloaded and the paths of its files, which are fetched unless the cache has them."""
    import pooch

    form = entry.download
    if form is None:
        raise FileNotFoundError(f"{entry.name} has no public home to download it from")
    paths = tuple(cache_dir() / file for file in form.files)
    logger = pooch.get_logger()
    level = logger.level
    # Pooch announces each file; the progress bar does that here.
    logger.setLevel(logging.WARNING)
    try:
        for remote, path in zip(form.remotes, paths, strict=True):
            _fetch(remote.url, remote.checksum, path)
    except OSError as error:
        raise FileNotFoundError(_offline(entry, form, looked_in, rejected, error)) from error
    finally:
        logger.setLevel(level)
    return form, paths


def _fetch(url: str, checksum: str, path: Path) -> None:
    import pooch

    with _Progress(path.name) as progress:
        # Pooch takes any object with a progress bar's methods, though its annotation says bool.
        bar: Any = progress
        downloader: Any = pooch.HTTPDownloader(progressbar=bar)
        try:
            pooch.retrieve(url, checksum, fname=path.name, path=path.parent, downloader=downloader)
        except OSError as error:
            # Pooch leaves the connection of a refused request open.
            response = getattr(error, "response", None)
            if response is not None:
                response.close()
            raise
        except ValueError as error:
            raise ValueError(f"{url} arrived damaged, or has changed at its home; try again ({error})") from error


def _offline(entry: Entry, form: Form, looked_in: Sequence[Path], rejected: Sequence[str], error: OSError) -> str:
    folder = cache_dir()
    lines = [f"{entry.name} is not on this machine and could not be downloaded ({_short(error)})."]
    lines += [f"  looked in {place}" for place in looked_in]
    lines += [f"  but {reason}" for reason in rejected]
    lines += ["Connect and try again, or fetch by other means and save:"]
    for file, remote in zip(form.files, form.remotes, strict=True):
        lines.append(f"  {remote.url} ({megabytes(remote.size)}, {remote.checksum})\n    as {folder / file}")
    lines += ["or under the same names in a folder of your choice, given as data_dir= (--data-dir) or PLAIT_DATA."]
    return "\n".join(lines)


def _short(error: OSError) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"{urlsplit(response.url).hostname} answered {response.status_code}"
    request = getattr(error, "request", None)
    host = urlsplit(request.url).hostname if request is not None else None
    return f"no connection to {host}" if host else str(error)


def megabytes(size: int) -> str:
    """A size for people."""
    return f"{size / 1e6:.0f} MB" if size >= 1e7 else f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"


def reachable(url: str, *, timeout: float = 2.0) -> bool:
    """Whether the host of an address answers at all."""
    import socket

    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname, port), timeout=timeout).close()
    except OSError:
        return False
    return True


class _Progress:
    """A rich progress bar with the methods that pooch calls; silent where nobody watches."""

    def __init__(self, name: str):
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

        columns = ("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())
        self._task = self._bar.add_task(name, total=None)

    def __enter__(self) -> "_Progress":
        self._bar.start()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._bar.stop()

    @property
    def total(self) -> float | None:
        return self._bar.tasks[0].total

    @total.setter
    def total(self, size: int) -> None:
        self._bar.update(self._task, total=size)

    def update(self, size: int) -> None:
        self._bar.update(self._task, advance=size)

    def reset(self) -> None:
        self._bar.update(self._task, completed=0)

    def close(self) -> None:
        pass
