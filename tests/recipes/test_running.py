import contextlib
import json
import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.fit import run as fit_run
from plait.recipes.options import Options, TrainingOptions
from plait.recipes.run_folder import RunFolder
from plait.recipes.running import load_model, prepare, resume, train


def arrays(bnn):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(bnn) if isinstance(leaf, jax.Array)]


def interrupt_after(monkeypatch, chunks):
    """Ctrl-C between two chunks of steps, at a moment that does not depend on a clock."""
    calls = iter(range(10**6))

    @contextlib.contextmanager
    def interrupts():
        yield lambda: next(calls) + 1 >= chunks

    monkeypatch.setattr(fit_run, "interrupts", interrupts)


def test_a_run_leaves_everything_there_is_to_know(digits_run):
    names = {path.name for path in digits_run.iterdir()}
    files = {"config.json", "model.safetensors", "history.csv", "history.json", "metrics.json", "report.html"}
    assert names == files | {"checkpoints"}
    metrics = json.loads((digits_run / "metrics.json").read_text())
    assert metrics["num_examples"] == 360
    assert set(metrics["metrics"]) >= {"nll", "accuracy", "ece", "brier", "negative_elbo"}
    assert len(json.loads((digits_run / "history.json").read_text())) == 2


def test_a_run_that_was_stopped_goes_on_as_if_it_never_was(tiny, tmp_path, monkeypatch, line_csv):
    options = tiny(str(line_csv), epochs=4, early_stopping=3)
    whole = train(options, tmp_path / "whole", progress=False)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 2)
        stopped = train(options, tmp_path / "stopped", progress=False)
    assert stopped.scored is None
    assert 0 < stopped.fit.step < whole.fit.step
    assert not stopped.folder.report.exists()
    # What there is can be looked at all the same.
    assert load_model(stopped.folder).num_params == whole.fit.model.num_params
    resumed = resume(tmp_path / "stopped", progress=False)
    for first, second in zip(arrays(whole.fit.model), arrays(resumed.fit.model), strict=True):
        np.testing.assert_array_equal(first, second)
    first, second = (json.loads((run.folder.path / "metrics.json").read_text()) for run in (whole, resumed))
    assert first == second
    assert resumed.folder.report.exists()


def test_a_run_is_not_resumed_on_other_data(tiny, tmp_path, line_csv):
    shutil.copy(line_csv, tmp_path / "data.csv")
    train(tiny(str(tmp_path / "data.csv"), epochs=1), tmp_path / "run", progress=False)
    lines = (tmp_path / "data.csv").read_text().splitlines()
    (tmp_path / "data.csv").write_text("\n".join(lines[:-5]))
    with pytest.raises(ValueError, match=r"data is not the data any more that .* was begun with"):
        resume(tmp_path / "run", progress=False)


def test_the_trained_model_comes_back(digits_run):
    folder = RunFolder.open(digits_run)
    bnn = load_model(folder)
    assert bnn.likelihood is not None
    assert jnp.isfinite(bnn(folder.facts.example_inputs(), key=None)).all()


def test_a_run_without_a_model_says_how_to_get_one(tmp_path, digits_run):
    shutil.copytree(digits_run, tmp_path / "run")
    (tmp_path / "run" / "model.safetensors").unlink()
    with pytest.raises(ValueError, match="has no trained model yet: go on with `plait train --resume"):
        load_model(RunFolder.open(tmp_path / "run"))


def test_nothing_is_written_where_something_is_wrong(tiny, tmp_path):
    for options in (tiny(batch_size=5_000), tiny(model={"posterior": "point", "rank": 2}), tiny("digit")):
        with pytest.raises(ValueError):
            train(options, tmp_path / "run", progress=False)
    assert not list(tmp_path.iterdir())


def test_early_stopping_needs_validation_data(tiny, tmp_path):
    np.savez(tmp_path / "own.npz", x=np.random.default_rng(0).random((20, 2)), y=np.arange(20) / 7)
    options = tiny(str(tmp_path / "own.npz"), data_options={"validation": 0.0}, early_stopping=1, batch_size=4)
    with pytest.raises(ValueError, match=r"own has none; set `validation` to 0.1"):
        prepare(options)


def test_the_seed_decides_everything(tiny):
    def start(seed):
        return arrays(prepare(Options(tiny().data, tiny().model, TrainingOptions(seed=seed))).bnn)

    def same(first, second):
        return [np.array_equal(*pair) for pair in zip(first, second, strict=True)]

    assert all(same(start(0), start(0)))
    assert not all(same(start(0), start(1)))
