import json
import types

import numpy as np
import pytest

from plait.fit import History
from plait.recipes.part import Part, seconds_per_step


def test_a_part_is_done_once_and_its_seconds_add_up(tmp_path):
    part = Part(tmp_path / "part", {"epochs": 3, "widths": (2, 3)})
    assert not part.is_done

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        part.once(stop)
    spent = json.loads((part.path / "spent.json").read_text())["seconds"]
    found = part.once(lambda: {"value": 1.5})
    assert found["value"] == 1.5
    assert found["seconds"] >= spent
    assert not (part.path / "spent.json").exists()
    again = Part(tmp_path / "part", {"epochs": 3, "widths": (2, 3)})
    assert again.is_done
    assert again.once(stop) == found


def test_a_folder_of_another_part_is_refused(tmp_path):
    Part(tmp_path, {"epochs": 3, "rate": 0.1})
    with pytest.raises(ValueError, match=r"other settings: choose another .*\n  epochs: saved 3"):
        Part(tmp_path, {"epochs": 4})


@pytest.mark.usefixtures("unchecked")
def test_a_history_comes_back_as_it_was(tmp_path):
    part = Part(tmp_path, {})
    rows = [{"nll": 1.0, "left": float("nan")}, {"nll": 0.5, "left": 0.2}]
    part.keep(types.SimpleNamespace(interrupted=False, history=History(rows)))
    found = part.history()
    np.testing.assert_array_equal(found["left"], [np.nan, 0.2])
    assert (tmp_path / "history.csv").is_file()


@pytest.mark.usefixtures("unchecked")
def test_training_that_was_interrupted_ends_the_study(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        Part(tmp_path, {}).keep(types.SimpleNamespace(interrupted=True))


def test_checkpoints_go_when_the_part_is_done(tmp_path):
    part = Part(tmp_path, {})
    part.checkpoints.mkdir()
    part.once(dict)
    assert not part.checkpoints.exists()


def test_the_first_epoch_does_not_count_for_the_pace():
    rows = [{"steps_per_second": pace} for pace in (1.0, 10.0, 20.0, 10.0)]
    assert seconds_per_step(History(rows)) == 0.1
    assert seconds_per_step(History(rows[:1])) == 1.0
