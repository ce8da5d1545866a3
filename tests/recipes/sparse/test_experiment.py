"""A whole study, small: digits, one layer, one method."""

import dataclasses
import types
from functools import partial

import numpy as np
import pytest

from plait.fit import History
from plait.recipes.part import Part
from plait.recipes.sparse import beyond, factors, frontier, mlp, study, training
from plait.recipes.sparse.experiment import Changes, Experiment, main
from plait.recipes.sparse.measuring import dropped
from plait.recipes.sparse.methods import Method
from plait.recipes.sparse.study import Chapter
from plait.recipes.sparse.targets import TABLE_1, Targets

PROTOCOL = dataclasses.replace(
    mlp.SMALL,
    network=partial(mlp.network, widths=(6,)),
    posteriors=("DIAG",),
    sparsities=("groups",),
    epochs=2,
    batch_size=512,
    fine_tune=0,
    num_samples=2,
)
CHAPTER = Chapter(PROTOCOL, Targets(TABLE_1, said=("something.",)))
EXPERIMENT = Experiment("sparse", "mlp", "A study", (CHAPTER,), (CHAPTER,))


@pytest.fixture(scope="module", autouse=True)
def no_timing():
    with pytest.MonkeyPatch.context() as context:
        context.setattr("plait.recipes.sparse.measuring.latency", lambda models, x: dict.fromkeys(models, 1.0))
        yield


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    output = tmp_path_factory.mktemp("study")
    return output, EXPERIMENT.reproduce(output)


def test_the_table_has_the_papers_numbers_beside_ours(done):
    (row,) = done[1].rows
    assert row[:3] == ("digits", "DIAG", "groups")
    assert row[-2:] == ("18,610", str(64 * 6 + 6 * 10))


def test_the_page_says_how_it_was_made_and_has_its_figures(done):
    page = (done[0] / "sparse.md").read_text()
    for text in ("Made by `plait reproduce sparse`", "The paper: something.", "](sparse/digits.png)"):
        assert text in page
    assert "Cut short" not in page
    assert "30-61-40-52-49-35-57-69-84-80-89-90" in page
    assert (done[0] / "sparse" / "digits.png").stat().st_size


def test_the_history_knows_how_much_would_be_left(done):
    part = Part(done[0] / "digits" / "diag-groups", study.settings_of(PROTOCOL, Method("DIAG", "groups"), 0))
    left = part.history()["left"]
    assert np.all((left > 0) & (left <= 1))


def test_what_is_done_is_not_done_again(done, monkeypatch):
    monkeypatch.setattr("plait.recipes.sparse.training.fit", None)
    monkeypatch.setattr("plait.recipes.sparse.measuring.evaluate", None)
    assert EXPERIMENT.reproduce(done[0]).rows == done[1].rows


def test_a_study_that_is_cut_short_says_so(done, monkeypatch, tmp_path):
    monkeypatch.setattr("plait.recipes.sparse.experiment.run_study", lambda chapters, *_, **__: [])
    cut = Changes(only=("digits",), epochs=1, posteriors=("MN",), seed=2, output=tmp_path)
    assert cut.shown() == "--only digits --posteriors MN --epochs 1 --seed 2"
    (chapter,) = cut.applied(EXPERIMENT.chapters)
    assert (chapter.protocol.epochs, chapter.protocol.posteriors) == (1, ("MN",))
    assert main(EXPERIMENT, [*cut.shown().split(), "--output", str(tmp_path)]) == 0
    page = (tmp_path / "sparse.md").read_text()
    assert "python -m plait.recipes.sparse.mlp --only digits --posteriors MN --epochs 1 --seed 2" in page
    assert f"Not run here: {PROTOCOL.title}" in page
    with pytest.raises(ValueError, match="unknown networks nothing; known are digits"):
        dataclasses.replace(cut, only=("nothing",)).applied(EXPERIMENT.chapters)


def test_a_study_that_is_stopped_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def stop(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("plait.recipes.sparse.experiment.run_study", stop)
    assert main(EXPERIMENT, ["--output", str(tmp_path)]) == 130
    assert "the same command goes on" in capsys.readouterr().err


def test_ctrl_c_ends_training(monkeypatch, tmp_path):
    monkeypatch.setattr(training, "fit", lambda *_, **__: type("Fit", (), {"interrupted": True}))
    method, dataset = Method("DIAG", "groups"), PROTOCOL.load()
    with pytest.raises(KeyboardInterrupt):
        training.train(PROTOCOL, dataset, method, Part(tmp_path / "part", {}), seed=0)
    bnn = PROTOCOL.build(dataset, method, key=training.jax.random.key(0))
    with pytest.raises(KeyboardInterrupt):
        training.fine_tune(PROTOCOL, dataset, bnn, 1, seed=0)


def test_dropped_is_what_the_paper_prints():
    layer = type("Layer", (), {"weights": 270, "weights_left": 210, "rows": 27, "rows_left": 27})
    assert dropped([layer]) == [22]
    assert dropped([layer], "rows") == [0]


def test_what_is_beyond_the_paper_is_one_page(tmp_path, monkeypatch):
    small = dataclasses.replace(PROTOCOL, name="ties")
    monkeypatch.setattr(beyond, "SMALL", small)
    looks = [{"step": step, "validation_negative_elbo": 10.0 / step} for step in (1, 2, 4)]
    courses = {name: factors.Course(History(looks), 0.5) for name in ("Adam 0.01", "natural 0.1")}
    monkeypatch.setattr(beyond, "run_factors", lambda *_, **__: courses)
    monkeypatch.setattr(frontier, "SHARES", (1.0, 0.1))
    monkeypatch.setattr(frontier, "CONTENDERS", {"plain": (Method("plain", "none"), "magnitude")})
    monkeypatch.setattr(beyond, "run_study", lambda *_, **__: [study.Results(Chapter(small), {}, {})])
    table = beyond.reproduce(tmp_path, quick=True)
    assert [row[0] for row in table.rows] == ["100 %", "10 %"]
    page = (tmp_path / f"{beyond.NAME}.md").read_text()
    for text in (
        "Ties under ARD",
        "natural 0.1",
        "Adam 0.01",
        "frontier.png",
        "factors.png",
        "0 epochs of training on",
    ):
        assert text in page
    assert (tmp_path / beyond.NAME / "frontier.png").stat().st_size
    # Adam's last is 2.5; 1.5 times that is reached at the third look, after 4 steps of half a second.
    assert factors.factors_table(courses).rows[1] == ("natural 0.1", "2.5", "500.0", *("4", "2") * 3)
    assert courses["Adam 0.01"].steps_to(1.0) is None


@pytest.mark.parametrize("way", ["done", "stopped"])
def test_factors_are_trained_both_ways(tmp_path, monkeypatch, way):
    asked = []

    def fit(bnn, data, *, optimizer, **options):
        asked.append(optimizer)
        rows = [{"step": 1, "validation_negative_elbo": 1.0, "steps_per_second": 2.0}]
        return types.SimpleNamespace(interrupted=way == "stopped", history=History(rows))

    monkeypatch.setattr(factors, "fit", fit)
    if way == "stopped":
        with pytest.raises(KeyboardInterrupt):
            factors.run_factors(PROTOCOL, PROTOCOL.load(), tmp_path, seed=0)
        return
    found = factors.run_factors(PROTOCOL, PROTOCOL.load(), tmp_path, seed=0)
    assert list(found) == ["Adam 0.001", "Adam 0.003", "Adam 0.01", "natural 0.01", "natural 0.03", "natural 0.1"]
    assert len(asked) == 6
    assert found["natural 0.1"].seconds_per_step == 0.5


def test_beyond_from_the_command_line(tmp_path, monkeypatch, capsys):
    said = []
    table = types.SimpleNamespace(text=lambda: "a table")
    monkeypatch.setattr(beyond, "_run", lambda *given: said.append(given) or table)
    assert beyond.main(["--only", "factors", "--epochs", "3", "--seed", "1", "--output", str(tmp_path)]) == 0
    assert said[0][0].epochs == 3
    assert said[0][3] == "python -m plait.recipes.sparse.beyond --only factors --epochs 3 --seed 1"

    def stop(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(beyond, "_run", stop)
    assert beyond.main([]) == 130
    assert "goes on from here" in capsys.readouterr().err
