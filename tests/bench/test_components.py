"""The table of components, on a small batch."""

import pytest

import plait
from plait.bench import components
from plait.bench.components import Options, as_markdown, main, measure


def test_the_deterministic_step_comes_first(monkeypatch):
    monkeypatch.setattr(components, "FAMILIES", {"point": plait.RankOne(4, family="point")})
    rows = measure("mlp", Options(components=2, rounds=1), batch=4)
    assert [row[1] for row in rows] == ["deterministic, batch 8", "point, batch 4"]
    assert rows[0][3:] == ("1.00", "1.000")
    page = as_markdown(rows, Options(components=2))
    assert page.startswith("## 2 components\n")
    assert page.count("\n| ") == 2 + len(rows)


def test_an_unknown_network_is_refused():
    with pytest.raises(SystemExit, match="unknown networks resnet; known are mlp, wide, lenet"):
        main(Options(networks=("resnet",)))
