"""The papers' experiments by name. A new one is a module beside this file and a line in `STUDIES`.

The module has a function, or in `EXPERIMENTS` several values with a method,

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
    entry: str | None = None
    """Which of the module's `EXPERIMENTS`, where it has several."""

    @property
    def reproduce(self) -> Callable[..., Any]:
        """The function of its module."""
        found = importlib.import_module(f"plait.recipes.{self.module}")
        return found.reproduce if self.entry is None else found.EXPERIMENTS[self.entry].reproduce


STUDIES: dict[str, Study] = {
    "ktied": Study("k-tied Normal, MNIST: ranks against mean field, truncation, signal (papers 000, 001)", "ktied.mlp"),
    "ktied-lenet": Study("the same with a LeNet on CIFAR-100", "ktied.lenet"),
    "ktied-lstm": Study("the same with an LSTM on IMDB", "ktied.lstm"),
    "ktied-convolutions": Study("a LeNet whose convolutions are tied too", "ktied.convolutions"),
    "ktied-estimators": Study("weight draws, local reparametrisation and Flipout, tied and not", "ktied.estimators"),
    "ktied-resnet": Study("mean field truncated after training: ResNet-18 on CIFAR-10 (paper 000)", "ktied.resnet"),
    "nng-uci": Study("noisy natural gradient and its baselines on nine UCI regressions (paper 004)", "uci.study"),
    "nng-active": Study("active learning on UCI: noisy K-FAC, HMC, mean field (paper 004, table 2)", "nng.active"),
    "nng-classification": Study(
        "noisy Adam and K-FAC against Adam and a mean field: MNIST, CIFAR-10", "nng.classification"
    ),
    "nng-vgg16": Study("the same with the conv net of the paper's code, on an accelerator (MATH 3.7)", "nng.vgg16"),
    "nng-hmc": Study("predictive variances against HMC, few labels (paper 004, table 3)", "nng.hmc"),
    "matrix-normal": Study("matrix-normal sparse learning: MLPs on MNIST and Fashion-MNIST (paper 002)", "sparse.mlp"),
    "matrix-normal-conv": Study("the same with a CNN on Fashion-MNIST, and VGG-like ones on CIFAR-10", "sparse.conv"),
    "matrix-normal-beyond": Study("ties under ARD, natural gradients for factors, frontiers", "sparse.beyond"),
    "matrix-normal-vae": Study(
        "autoencoders with diagonal, matrix-normal and full latents (paper 002)", "vae.experiment"
    ),
} | {
    name: Study(title, "rank1.experiment", name)
    for name, title in {
        "rank1": "Rank-1 mixtures against their baselines, clean and corrupted: an MLP on MNIST (paper 003)",
        "rank1-fashion": "the same on Fashion-MNIST",
        "rank1-wrn": "the same with a Wide ResNet-10-1 on CIFAR-10",
        "rank1-cifar10": "the same with a Wide ResNet-28-10 on CIFAR-10, for accelerators",
        "rank1-cifar100": "the same with a Wide ResNet-28-10 on CIFAR-100, for accelerators",
        "rank1-imdb": "rank-1 mixtures with an LSTM on IMDB",
        "rank1-events": "rank-1 mixtures with an LSTM on synthetic irregular events",
    }.items()
}


def find_study(name: str) -> Study:
    """The study of a name, or an error that lists them."""
    if name in STUDIES:
        return STUDIES[name]
    known = f"known are {', '.join(STUDIES)}" if STUDIES else "there are none in this version"
    raise ValueError(f"unknown study {name!r}{suggestion(name, STUDIES)}: {known}")
