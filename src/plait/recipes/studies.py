"""The papers' experiments by name. A new one is a module beside this file and a line in `STUDIES`.

The module has a function

    reproduce(output, *, data_dir, seed, quick) -> Table

that runs the study (small enough for a minute where `quick`), writes what it wants to keep into the folder `output`,
goes on where it was stopped if that folder has work in it, and returns the papers' numbers beside ours.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from plait.data.suggest import suggestion


@dataclass(frozen=True)
class Study:
    """One experiment."""

    title: str
    """What it shows, and which paper it is from."""
    module: str
    """Its name in `plait.recipes`, imported when it is run."""

    @property
    def reproduce(self) -> Callable[..., Any]:
        """The function of its module."""
        return importlib.import_module(f"plait.recipes.{self.module}").reproduce


STUDIES: dict[str, Study] = {
    "ktied": Study("k-tied Normal, MNIST: ranks against mean field, truncation, signal (papers 000, 001)", "ktied.mlp"),
    "ktied-lenet": Study("the same with a LeNet on CIFAR-100", "ktied.lenet"),
    "ktied-lstm": Study("the same with an LSTM on IMDB", "ktied.lstm"),
    "ktied-resnet": Study("mean field truncated after training: ResNet-18 on CIFAR-10 (paper 000)", "ktied.resnet"),
    "nng-uci": Study("noisy natural gradient and its baselines on nine UCI regressions (paper 004)", "uci.study"),
}


def find_study(name: str) -> Study:
    """The study of a name, or an error that lists them."""
    if name in STUDIES:
        return STUDIES[name]
    known = f"known are {', '.join(STUDIES)}" if STUDIES else "there are none in this version"
    raise ValueError(f"unknown study {name!r}{suggestion(name, STUDIES)}: {known}")
