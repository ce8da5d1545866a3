"""The study of autoencoders, small: thirty pictures that are not MNIST."""

import dataclasses
import json

import numpy as np
import pytest

from plait.data import Dataset, Pair
from plait.recipes.vae import experiment, protocol, study
from plait.recipes.vae.protocol import Static, load_static, spread

SMALL = dataclasses.replace(
    experiment.SMALL, heads=("MN",), widths=(4,), epochs=3, batch_size=10, num_samples=4, chunk=2, test_images=12
)


def pictures(count, seed, size=4):
    x = (np.random.default_rng(seed).random((count, size, size)) < 0.3).astype(np.float32)
    return Pair(x, x)


DATASET = Dataset("bits", "density", pictures(30, 0), pictures(20, 1), pictures(20, 2))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    output = tmp_path_factory.mktemp("study")
    with pytest.MonkeyPatch.context() as context:
        context.setattr(study, "load_static", lambda data_dir: Static(DATASET, "made here."))
        context.setattr(experiment, "SMALL", dataclasses.replace(SMALL, train_images=None))
        yield output, experiment.reproduce(output, quick=True)


def test_table_3_is_ours_beside_the_papers(done):
    (row,) = done[1].rows
    assert row[:4] == ("9", "MN", "3 x 3", "-96.61")
    assert row[5] == "-101.08"


def test_the_page_says_what_the_data_are_and_has_its_figures(done):
    page = (done[0] / "matrix-normal-vae.md").read_text()
    for text in ("Made by `plait reproduce matrix-normal-vae --quick`", "Data: made here.", "importance samples"):
        assert text in page
    for file in ("images-9.png", "latents-9.png", "training.png"):
        assert f"](matrix-normal-vae/{file})" in page
        assert (done[0] / "matrix-normal-vae" / file).stat().st_size


def test_the_best_model_is_the_one_that_is_judged(done):
    best = json.loads((done[0] / "9-mn" / "best.json").read_text())
    history = json.loads((done[0] / "9-mn" / "history.json").read_text())
    values = [row["validation_negative_elbo"] for row in history]
    assert best["value"] == min(values)
    assert best["epoch"] == 1 + int(np.argmin(values))
    # Training lowers the bound even here.
    assert values[-1] < values[0]


def test_what_is_done_is_not_done_again(done, monkeypatch):
    monkeypatch.setattr(study, "fit", None)
    monkeypatch.setattr(study, "importance", None)
    assert experiment.reproduce(done[0], quick=True).rows == done[1].rows


def test_training_stops_when_it_gets_no_better_but_not_while_annealing(tmp_path, monkeypatch):
    from plait.recipes.vae import training

    monkeypatch.setattr(training, "negative_elbo", lambda *given: next(values))
    monkeypatch.setattr(training, "save", lambda path, bnn: None)
    values = iter([3.0, 2.0, 2.5, 2.5, 2.5])
    best = training.BestModel(tmp_path, DATASET.test.x, warmup=3, patience=2, key=None)
    record = type("Record", (), {"current": lambda self: self, "bnn": property(lambda self: self)})()
    record.mean = lambda: None
    stops = []
    for epoch in range(1, 6):
        record.row = {"epoch": epoch}
        stops.append(best(record))
    assert stops == [False, False, False, False, True]
    assert (best.epoch, best.value) == (2, 2.0)
    again = training.BestModel(tmp_path, DATASET.test.x, warmup=3, patience=2, key=None)
    assert (again.epoch, again.value) == (2, 2.0)


def test_ctrl_c_ends_the_study(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(study, "load_static", lambda data_dir: Static(DATASET, ""))
    monkeypatch.setattr(study, "fit", lambda *_, **__: type("Fit", (), {"interrupted": True}))
    options = ["--sizes", "9", "--heads", "DIAG", "--epochs", "2", "--seed", "1", "--output", str(tmp_path)]
    assert experiment.main(options) == 130
    assert "the same command goes on" in capsys.readouterr().err
    cut = experiment.Changes(sizes=(9,), heads=("DIAG",), seed=1)
    assert cut.shown() == "--sizes 9 --heads DIAG --seed 1"


def test_a_binarisation_of_our_own_stands_in_and_says_so(monkeypatch):
    grey = Pair(np.full((50, 4, 4), 0.25, np.float32), np.zeros(50, np.int32))
    plain = Dataset("mnist", "classification", grey, grey, grey, num_classes=10)

    def load(name, data_dir):
        if name == "binarized_mnist":
            raise FileNotFoundError(name)
        return plain

    monkeypatch.setattr(protocol.data, "load", load)
    found, again = load_static(), load_static()
    assert found.source.startswith("MNIST binarised here")
    assert set(np.unique(found.dataset.train.x)) == {0.0, 1.0}
    assert found.dataset.train.x.mean() == pytest.approx(0.25, abs=0.06)
    np.testing.assert_array_equal(found.dataset.test.x, again.dataset.test.x)
    monkeypatch.setattr(protocol.data, "load", lambda name, data_dir: DATASET)
    assert load_static().source.startswith("Statically binarised MNIST as")


def test_images_are_spread_evenly():
    x = np.arange(10)
    assert spread(x, 4).tolist() == [0, 3, 6, 9]
    assert spread(x, None) is x
