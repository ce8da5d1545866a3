import json

import pytest

from plait.recipes.options import DataOptions, ModelOptions, Options, TrainingOptions, check_options, settle


def test_options_survive_json():
    model = ModelOptions(widths=(3, 4), noise=0.5, rank=3)
    options = Options(DataOptions("a.csv", features=("x", "z")), model, TrainingOptions(epochs=3))
    assert Options.from_dict(json.loads(json.dumps(options.to_dict()))) == options


def test_what_is_left_open_is_settled_by_the_size_of_the_data():
    small, large = settle(Options(), 1_257).training, settle(Options(), 50_000).training
    assert (small.batch_size, large.batch_size) == (64, 256)
    assert small.epochs == round(4_000 / 19)
    assert large.epochs == round(4_000 / 195)
    assert settle(Options(), 5).training.batch_size == 5
    assert settle(Options(), 5).training.epochs == 1_000
    assert (
        small.learning_rate,
        settle(Options(training=TrainingOptions(optimizer="ivon")), 9).training.learning_rate,
    ) == (
        5e-3,
        0.1,
    )
    chosen = Options(training=TrainingOptions(epochs=7, batch_size=3, learning_rate=0.1))
    assert settle(chosen, 50) == chosen


def test_paths_hold_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = settle(Options(DataOptions("a.csv", data_dir="sets")), 10).data
    assert (data.data, data.data_dir) == (str(tmp_path / "a.csv"), str(tmp_path / "sets"))
    assert settle(Options(), 10).data.data == "digits"


def test_a_batch_larger_than_the_data_is_refused():
    with pytest.raises(ValueError, match="`batch_size` 11 is larger than the data, which has 10 training examples"):
        settle(Options(training=TrainingOptions(batch_size=11)), 10)


@pytest.mark.parametrize("name", ["epochs", "batch_size", "train_samples", "early_stopping", "samples"])
def test_a_count_below_one_is_refused(name):
    with pytest.raises(ValueError, match=f"`{name}` must be at least 1, got 0"):
        check_options(TrainingOptions(**{name: 0}))


@pytest.mark.parametrize("name", ["learning_rate", "clip_norm"])
def test_a_size_that_is_not_positive_is_refused(name):
    for value in (0.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=f"`{name}` must be a positive number"):
            check_options(TrainingOptions(**{name: value}))


def test_a_seed_that_is_none_is_refused():
    with pytest.raises(ValueError, match="`seed` must lie in"):
        check_options(TrainingOptions(seed=-1))
