"""A trained run of each kind, as small as can be."""

import csv

import numpy as np
import pytest

from plait.recipes.options import DataOptions, ModelOptions, Options, TrainingOptions
from plait.recipes.running import train


def tiny_options(data="digits", *, data_options=None, model=None, **training):
    training = {"epochs": 2, "batch_size": 32, "samples": 4} | training
    model = {"widths": (4,)} | (model or {})
    return Options(DataOptions(data, **(data_options or {})), ModelOptions(**model), TrainingOptions(**training))


def write_csv(path, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture(scope="session")
def line_csv(tmp_path_factory):
    """A regression on one input, in units far from 1."""
    x = np.linspace(-2, 2, 80)
    y = 1000 + 50 * x + 5 * np.random.default_rng(0).normal(size=80)
    return write_csv(tmp_path_factory.mktemp("data") / "line.csv", {"x": x, "y": y})


@pytest.fixture(scope="session")
def kinds_csv(tmp_path_factory):
    """Two classes with names, told by the sum of two inputs."""
    a, b = np.random.default_rng(1).normal(size=(2, 90))
    kind = ["up" if total > 0 else "down" for total in a + b]
    return write_csv(tmp_path_factory.mktemp("data") / "kinds.csv", {"a": a, "b": b, "kind": kind})


@pytest.fixture(scope="session")
def digits_run(tmp_path_factory):
    return train(tiny_options(batch_size=256), tmp_path_factory.mktemp("run") / "digits", progress=False).folder.path


@pytest.fixture(scope="session")
def line_run(tmp_path_factory, line_csv):
    options = tiny_options(str(line_csv), epochs=60, learning_rate=0.05, kl_weight=0.01)
    return train(options, tmp_path_factory.mktemp("run") / "line", progress=False).folder.path


@pytest.fixture(scope="session")
def kinds_run(tmp_path_factory, kinds_csv):
    options = tiny_options(str(kinds_csv), data_options={"target": "kind", "task": "binary"})
    return train(options, tmp_path_factory.mktemp("run") / "kinds", progress=False).folder.path


@pytest.fixture
def tiny():
    """Options for a run of a second."""
    return tiny_options
