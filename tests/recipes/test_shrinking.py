"""A run is made smaller, and is a run again."""

import json

import jax.numpy as jnp
import pytest

import plait
from plait.recipes.evaluating import evaluate_run
from plait.recipes.run_folder import RunFolder, free_name_beside
from plait.recipes.running import load_model, resume
from plait.recipes.shrinking import shrink_run

# Of 34 hidden columns, the strongest 20: too few for the layers to stay whole.
RULE = plait.Budget(0.6, of="columns")


@pytest.fixture(scope="module")
def shrunk(digits_run, tmp_path_factory):
    target = tmp_path_factory.mktemp("shrunk") / "small"
    return shrink_run(digits_run, target, rule=RULE, fine_tune=1, num_samples=2, progress=False)


def test_a_shrunk_run_is_a_run(shrunk, digits_run):
    folder = RunFolder.open(shrunk.folder.path)
    (width,) = folder.options.model.widths
    assert width < 4
    bnn = load_model(folder)
    assert {row.path: row.shape for row in bnn.sites}["layers.0.weight"] == (width, 64)
    again = evaluate_run(folder.path, num_samples=2, progress=False).scored.evaluation
    assert again.metrics["nll"].value == pytest.approx(shrunk.metrics["fine-tuned"]["nll"].value, rel=1e-6)
    with pytest.raises(ValueError, match="was made by `plait shrink`"):
        resume(folder.path)
    assert RunFolder.open(digits_run).made_by is None


def test_what_it_cost_is_shown_and_written_down(shrunk):
    said = json.loads((shrunk.folder.path / "shrinking.json").read_text())
    assert said["fine_tune_epochs"] == 1
    assert set(said["metrics"]) == {"before", "zeroed", "fine-tuned"}
    assert said["bytes_of_network"][0] > said["bytes_of_network"][1]
    assert said["bytes_of_file"][0] > said["bytes_of_file"][1]
    table = shrunk.table()
    assert table.columns == ("test data", "before", "zeroed", "fine-tuned")
    assert [row[0] for row in table.rows] == [
        *("-ELBO per example", "NLL", "accuracy", "weights", "bytes of the plain network", "bytes of the file"),
        "ms for a prediction",
    ]
    assert all(seconds > 0 for seconds in shrunk.seconds)


def test_zeros_that_fill_no_unit_stay_zero(digits_run, tmp_path, monkeypatch):
    monkeypatch.setattr("plait.recipes.shrinking.latency", lambda models, x: dict.fromkeys(models, 1.0))
    found = shrink_run(digits_run, tmp_path / "small", rule=plait.Budget(0.5), num_samples=1, progress=False)
    bnn = load_model(RunFolder.open(found.folder.path))
    assert found.folder.masked == ("layers.0.weight", "layers.1.weight")
    zeros = sum(int(jnp.sum(bnn.posteriors[path].mean == 0)) for path in found.folder.masked)
    assert zeros >= found.report.weights // 2 - 64
    assert set(found.metrics) == {"before", "zeroed"}


def test_what_cannot_be_asked_for_is_refused(digits_run, tmp_path):
    with pytest.raises(ValueError, match="`fine_tune` is a number of epochs"):
        shrink_run(digits_run, tmp_path / "small", fine_tune=-1)
    with pytest.raises(ValueError, match="exists already"):
        shrink_run(digits_run, digits_run)
    assert free_name_beside(tmp_path / "run", "shrunk").name == "run-shrunk"


def test_ctrl_c_while_training_on_writes_nothing(digits_run, tmp_path, monkeypatch):
    stopped = type("Fit", (), {"interrupted": True})
    monkeypatch.setattr("plait.recipes.shrinking.fit", lambda *_, **__: stopped)
    with pytest.raises(KeyboardInterrupt):
        shrink_run(digits_run, tmp_path / "small", rule=RULE, fine_tune=1, num_samples=1, progress=False)
    assert not (tmp_path / "small").exists()
