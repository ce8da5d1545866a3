"""The table of a run."""

import csv
import json
import math

import numpy as np
import pytest

from plait.fit.history import History

SINGLE = [{"step": 5, "nll": 1.25}, {"step": 10, "nll": math.nan, "validation_nll": 0.5}]
REPLICAS = [{"step": 5, "nll": [1.0, 2.0]}, {"step": 10, "nll": [0.5, math.nan], "validation_nll": [3.0, 4.0]}]


def test_a_column_is_an_array():
    history = History(SINGLE)
    np.testing.assert_array_equal(history["step"], [5, 10])
    np.testing.assert_array_equal(history["validation_nll"], [math.nan, 0.5])
    assert len(history) == 2
    assert [row["step"] for row in history] == [5, 10]
    assert repr(history) == "<History: 2 rows of step, nll, validation_nll>"
    with pytest.raises(KeyError, match="no column 'loss'; it has step, nll, validation_nll"):
        history["loss"]
    with pytest.raises(KeyError, match="it has none"):
        History()["loss"]


def test_a_column_of_replicas_has_an_axis_over_them():
    history = History(REPLICAS)
    np.testing.assert_array_equal(history["nll"], [[1, 2], [0.5, math.nan]])
    np.testing.assert_array_equal(history["validation_nll"], [[math.nan, math.nan], [3, 4]])
    np.testing.assert_array_equal(history["step"], [5, 10])


def test_csv(tmp_path):
    History(SINGLE).to_csv(tmp_path / "h.csv")
    assert (tmp_path / "h.csv").read_text() == "step,nll,validation_nll\n5,1.25,\n10,nan,0.5\n"
    History(REPLICAS).to_csv(tmp_path / "r.csv")
    with (tmp_path / "r.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [(line["replica"], line["step"], line["nll"]) for line in lines] == [
        ("0", "5", "1.0"), ("1", "5", "2.0"), ("0", "10", "0.5"), ("1", "10", "nan"),
    ]  # fmt: skip


def test_json_has_null_where_a_number_is_not_finite(tmp_path):
    History(SINGLE).to_json(tmp_path / "h.json")
    rows = json.loads((tmp_path / "h.json").read_text())
    assert rows[1] == {"step": 10, "nll": None, "validation_nll": 0.5}
    History(REPLICAS).to_json(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())[1]["nll"] == [0.5, None]


def test_text():
    assert str(History()) == "no epochs yet"
    assert str(History(SINGLE)).splitlines() == [
        "step   nll  validation_nll",
        "   5  1.25",
        "  10   nan             0.5",
    ]
    assert str(History(REPLICAS)).splitlines()[1].split() == ["5", "1.5"]
    long = str(History([{"step": i} for i in range(30)])).splitlines()
    assert (long[1].strip(), long[-1]) == ("10", "(10 earlier rows)")
