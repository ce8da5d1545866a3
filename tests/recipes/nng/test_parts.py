import pytest

from plait.recipes.nng.parts import done_once


def test_a_part_is_done_once(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return {"rmse": [0.5]}

    path = tmp_path / "parts" / "a.json"
    for _ in range(2):
        assert done_once(path, {"epochs": (1, 2)}, compute) == {"rmse": [0.5]}
    assert len(calls) == 1
    with pytest.raises(ValueError, match=r"found with other settings: choose another `output`, or delete it\n  epochs"):
        done_once(path, {"epochs": (1, 3)}, compute)
