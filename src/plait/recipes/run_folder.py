"""The folder of a training run: everything there is to know about it.

config.json         options and facts about the data: enough to build everything again; after `plait compress` the
                    ranks, after `plait shrink` which weights are masked
checkpoints/        the state of training, to go on from
model.safetensors   the trained weights
history.csv, .json  a row for each epoch
metrics.json        how good predictions on test data are
report.html         the same and more, with pictures
"""

import json
import os
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from plait.checkpoint.atomic import write_whole
from plait.fit import History
from plait.recipes.facts import Facts
from plait.recipes.optimizers import posterior_name
from plait.recipes.options import Options

FORMAT = "plait run 1"
RUNS = Path("runs")


class RunFolder:
    """One of them. `create` makes a new one, `open` finds one that is there."""

    def __init__(
        self,
        path: Path,
        options: Options,
        facts: Facts,
        ranks: Mapping[str, int] | None = None,
        masked: Sequence[str] | None = None,
    ):
        self.path = path
        self.options = options
        self.facts = facts
        self.ranks = dict(ranks or {})
        """Of weights that were tied after training, by path; the options say what they were before."""
        self.masked = None if masked is None else tuple(masked)
        """Weights with zeros in them, by path, of a network that was made smaller; None for all others."""

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        options: Options,
        facts: Facts,
        ranks: Mapping[str, int] | None = None,
        masked: Sequence[str] | None = None,
    ) -> "RunFolder":
        """A new folder; one that is there must be empty."""
        folder = cls(Path(path), options, facts, ranks, masked)
        check_free(folder.path)
        folder.path.mkdir(parents=True, exist_ok=True)
        config = {"format": FORMAT, "plait": version("plait"), "options": options.to_dict(), "facts": facts.to_dict()}
        later = {"ranks": folder.ranks or None, "masked": folder.masked}
        config |= {name: value for name, value in later.items() if value is not None}
        folder.write_json("config.json", config)
        return folder

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "RunFolder":
        """A folder that `create` made."""
        config = Path(path) / "config.json"
        if not config.is_file():
            what = "has no config.json" if Path(path).is_dir() else "does not exist"
            raise ValueError(f"{path} is not the folder of a run: it {what}; `plait train` makes one")
        try:
            content = json.loads(config.read_text())
            if content["format"] == FORMAT:
                options, facts = Options.from_dict(content["options"]), Facts.from_dict(content["facts"])
                return cls(Path(path), options, facts, content.get("ranks"), content.get("masked"))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"{config} is damaged ({error}), or was not written by `plait train`") from error
        raise ValueError(f"{config} was written by another version of Plait: its format is {content['format']!r}")

    @property
    def made_by(self) -> str | None:
        """The command that made it of another run, if one did."""
        if self.masked is not None:
            return "plait shrink"
        return "plait compress" if self.ranks else None

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints."""
        return self.path / "checkpoints"

    @property
    def model(self) -> Path:
        """The file of trained weights."""
        return self.path / "model.safetensors"

    @property
    def report(self) -> Path:
        """The page."""
        return self.path / "report.html"

    def write_json(self, name: str, content: Mapping[str, Any]) -> Path:
        """Write one of the files, whole or not at all."""
        path = self.path / name
        write_whole(path, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode())
        return path

    def write_history(self, history: History) -> None:
        """Both files of it."""
        history.to_csv(self.path / "history.csv")
        history.to_json(self.path / "history.json")

    def read_history(self) -> History:
        """What was written; numbers that were not finite are NaN again."""
        path = self.path / "history.json"
        try:
            rows = json.loads(path.read_text())
            return History([{name: float("nan") if v is None else v for name, v in row.items()} for row in rows])
        except (OSError, ValueError, AttributeError) as error:
            raise ValueError(f"{path} is missing or damaged ({error})") from error


def check_free(path: Path) -> None:
    """Refuse to write into a folder that has something in it."""
    if path.is_dir() and any(path.iterdir()):
        raise ValueError(
            f"{path} exists already: choose another `output`, or go on with the run in it by `plait train --resume "
            f"{path}`"
        )
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path} is a file: choose another `output`")


def free_name(options: Options) -> Path:
    """A folder for a run that has no name, such as runs/digits-tied, with a number where that is taken."""
    stem = re.sub(r"[^\w.-]+", "-", Path(options.data.data).stem)
    name, number = f"{stem}-{posterior_name(options)}", 1
    path = RUNS / name
    while path.exists():
        number += 1
        path = RUNS / f"{name}-{number}"
    return path


def free_name_beside(run: Path, what: str) -> Path:
    """The folder of a run with a word after its name, and a number where that is taken."""
    stem, number = f"{run.resolve().name}-{what}", 1
    path = run.resolve().parent / stem
    while path.exists():
        number += 1
        path = path.with_name(f"{stem}-{number}")
    return path
