import pytest

from plait.recipes.part_folder import PartFolder


def test_what_is_finished_is_read_again(tmp_path):
    folder = PartFolder(tmp_path / "part", {"set": "yacht", "layers": (1, 2)})
    assert not folder.is_done
    folder.finish({"rmse": [1.0]})
    again = PartFolder(tmp_path / "part", {"set": "yacht", "layers": (1, 2)})
    assert again.is_done
    assert again.read() == {"rmse": [1.0]}


def test_other_settings_are_refused(tmp_path):
    PartFolder(tmp_path, {"seed": 0, "epochs": 1})
    with pytest.raises(ValueError, match=r"other settings \(epochs, more\): choose another `output`"):
        PartFolder(tmp_path, {"seed": 0, "epochs": 2, "more": 1})
