"""The conv net of the paper's code, half VGG16 on CIFAR-10 (MATH 3.7), by `plait reproduce nng-vgg16`.

150 epochs: a matter of an accelerator. With `quick` a VGG of a few channels on digits, to see that it runs.
"""

import dataclasses
from pathlib import Path

from plait._typing import PRNGKey
from plait.data import Dataset
from plait.recipes.nng.classification import SMALL, VGG16, run_settings
from plait.recipes.nng.vgg import VGG
from plait.report import Table


def _tiny(dataset: Dataset, key: PRNGKey) -> VGG:
    return VGG(dataset.input_shape, dataset.target_size, ((2, 1), (3, 1)), key=key)


def reproduce(output: Path, *, data_dir: str | None = None, seed: int = 0, quick: bool = False) -> Table:
    """All methods, 150 epochs each."""
    setting = dataclasses.replace(SMALL, title="A small VGG on digits", network=_tiny) if quick else VGG16
    return run_settings("nng-vgg16", (setting,), output, data_dir=data_dir, seed=seed, quick=quick)
