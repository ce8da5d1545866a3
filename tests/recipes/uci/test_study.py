import dataclasses

import pytest

from plait.recipes.uci import study
from plait.recipes.uci.study import Changes, main


@pytest.fixture
def small(protocol, monkeypatch):
    small = dataclasses.replace(protocol, methods=("bbb",))
    monkeypatch.setattr(study, "PROTOCOL", small)
    return small


def test_a_study_writes_its_page_and_says_what_is_left_out(small, data_dir, tmp_path, monkeypatch, capsys):
    options = ["--epochs", "1", "--output", str(tmp_path), "--data-dir", data_dir]
    assert main(options) == 0
    assert "1-hidden/bbb/yacht: RMSE" in capsys.readouterr().out
    page = (tmp_path / "nng-uci.md").read_text()
    assert "Made by `python -m plait.recipes.uci.study --epochs 1`" in page
    assert "epochs 1 instead of 2" in page
    assert "0.983 ± 0.055" in page
    assert "-2.380 ± 0.004" in page
    assert "Noisy K-FAC" not in page.split("## 1 hidden layer: cost")[1].split("## ")[0]
    assert (tmp_path / "nng-uci" / "curves-1.png").stat().st_size
    # Done already: the table of the same numbers.
    table = study.run_study(Changes(epochs=1).applied(small), tmp_path, "again", data_dir=data_dir)
    assert [row[1:4] for row in table.rows] == [("yacht", "mean field, gradients", "0.983 ± 0.055")]


def test_a_quick_study_is_the_small_one(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(study, "run_study", lambda *given, **more: asked.append((given, more)))
    study.reproduce(tmp_path, quick=True, seed=3)
    ((given, more),) = asked
    assert given == (study.QUICK, tmp_path, "plait reproduce nng-uci --quick --seed 3")
    assert more == {"data_dir": None, "seed": 3}


def test_unknown_names_are_told(small, tmp_path, capsys):
    assert main(["--methods", "nng-mgv", "--output", str(tmp_path)]) == 2
    assert "unknown method 'nng-mgv' (did you mean 'nng-mvg'?): known are deterministic" in capsys.readouterr().err
    assert main(["--sets", "moon", "--output", str(tmp_path)]) == 2
    assert "unknown set 'moon'" in capsys.readouterr().err


def test_a_study_that_is_stopped_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def stop(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(study, "run_study", stop)
    assert main(["--output", str(tmp_path)]) == 130
    assert "the same command goes on" in capsys.readouterr().err
