"""One small run, trained by the command itself."""

import shutil

import pytest

from plait.cli.main import main

SMALL = ("--widths", "4", "--epochs", "2", "--batch-size", "256", "--samples", "4", "--quiet")


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "digits"
    assert main(["train", *SMALL, "--output", str(path)]) == 0
    return path


@pytest.fixture
def run(trained, tmp_path):
    """A copy to write into."""
    return shutil.copytree(trained, tmp_path / "digits")


@pytest.fixture
def small():
    """Options of a run that takes a moment."""
    return SMALL
