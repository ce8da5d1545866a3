"""A part of a study keeps its folder to itself."""

import types

import pytest

from plait.recipes.study_folder import add_seconds, claim, read_json, stop_if_interrupted


def test_a_folder_is_of_one_run(tmp_path):
    claim(tmp_path / "part", {"epochs": 3, "steps": (1, 2)})
    claim(tmp_path / "part", {"epochs": 3, "steps": (1, 2)})
    assert read_json(tmp_path / "part" / "settings.json") == {"epochs": 3, "steps": [1, 2]}
    with pytest.raises(ValueError, match=r"holds training with other settings \(epochs\)"):
        claim(tmp_path / "part", {"epochs": 4, "steps": (1, 2)})


def test_seconds_add_up_over_stops(tmp_path):
    assert add_seconds(tmp_path, 2.0) == 2.0
    assert add_seconds(tmp_path, 1.5) == 3.5


@pytest.mark.usefixtures("unchecked")
def test_an_interruption_ends_the_study():
    with pytest.raises(KeyboardInterrupt):
        stop_if_interrupted(types.SimpleNamespace(interrupted=True))
