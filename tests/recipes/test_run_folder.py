import json

import pytest

from plait import data
from plait.fit import History
from plait.recipes.facts import Facts
from plait.recipes.options import DataOptions, Options, TrainingOptions
from plait.recipes.run_folder import RunFolder, free_name


@pytest.fixture
def facts():
    return Facts.of(data.load("digits"), "digits")


def test_a_folder_remembers_what_it_is_of(tmp_path, facts):
    options = Options(training=TrainingOptions(epochs=3))
    RunFolder.create(tmp_path / "deep" / "run", options, facts)
    again = RunFolder.open(tmp_path / "deep" / "run")
    assert again.options == options
    assert again.facts.to_dict() == facts.to_dict()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path, facts):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(ValueError, match="exists already: choose another `output`"):
        RunFolder.create(tmp_path, Options(), facts)
    with pytest.raises(ValueError, match="is a file: choose another `output`"):
        RunFolder.create(tmp_path / "notes", Options(), facts)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is not the folder of a run: it has no config.json"),
        ("{", "is damaged"),
        ("[]", "is damaged"),
        ('{"format": "plait run 1"}', "is damaged"),
        ('{"format": "plait run 9"}', "was written by another version of Plait: its format is 'plait run 9'"),
    ],
)
def test_a_folder_that_is_no_run_is_refused(tmp_path, content, message):
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(ValueError, match=message):
        RunFolder.open(tmp_path)


def test_an_option_that_is_unknown_is_refused(tmp_path, facts):
    folder = RunFolder.create(tmp_path / "run", Options(), facts)
    config = json.loads((folder.path / "config.json").read_text())
    config["options"]["training"]["epoch"] = 3
    (folder.path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="is damaged"):
        RunFolder.open(folder.path)


def test_a_folder_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(ValueError, match="it does not exist; `plait train` makes one"):
        RunFolder.open(tmp_path / "nowhere")


def test_the_history_comes_back(tmp_path, facts):
    folder = RunFolder.create(tmp_path / "run", Options(), facts)
    folder.write_history(History([{"epoch": 1, "nll": 0.5}, {"epoch": 2, "nll": float("nan")}]))
    history = folder.read_history()
    assert history["nll"][0] == 0.5
    assert history["nll"][1] != history["nll"][1]
    assert (folder.path / "history.csv").read_text().splitlines()[0] == "epoch,nll"
    (folder.path / "history.json").write_text("{")
    with pytest.raises(ValueError, match=r"history.json is missing or damaged"):
        folder.read_history()


def test_a_name_is_found_that_is_free(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(free_name(Options())) == "runs/digits-tied"
    (tmp_path / "runs" / "digits-tied").mkdir(parents=True)
    assert str(free_name(Options())) == "runs/digits-tied-2"
    assert str(free_name(Options(DataOptions("../my data.csv")))) == "runs/my-data-tied"
