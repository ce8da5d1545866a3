from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from plait import data
from plait.cli.message import is_message, worded
from plait.data.standardizer import Standardizer


def caught(function):
    try:
        function()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def test_what_plait_raises_on_purpose_is_a_message():
    assert is_message(caught(lambda: data.load("digit")))
    assert is_message(caught(lambda: data.load("nowhere.csv")))


def test_what_some_line_ran_into_is_a_bug():
    # In NumPy, called by Plait; in Plait, but not by a `raise`; in neither.
    assert not is_message(caught(lambda: Standardizer.fit(np.asarray(["a"]))))
    assert not is_message(caught(lambda: Standardizer.from_dict(None)))
    assert not is_message(caught(lambda: int("x")))
    assert not is_message(ValueError("never raised"))
    assert not is_message(KeyError("x"))


def test_the_system_speaks_for_itself():
    assert is_message(caught(Path("/nowhere/at/all").read_text))


@dataclass
class Inner:
    batch_size: int = 1


@dataclass
class Outer:
    inner: Inner = field(default_factory=Inner)
    samples: int = 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`batch_size` is 3", "--batch-size is 3"),
        ("`num_samples` must", "--samples must"),
        ("use `mlp` and `plait train`", "use `mlp` and `plait train`"),
    ],
)
def test_options_are_worded_as_they_are_typed(text, shown):
    assert worded(ValueError(text), Outer()) == shown
