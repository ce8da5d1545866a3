import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from plait.recipes.compressing import compress_run, compress_tensors, restore_tensors
from plait.recipes.evaluating import evaluate_run
from plait.recipes.options import ModelOptions
from plait.recipes.predicting import predict_file
from plait.recipes.run_folder import RunFolder, free_name_beside
from plait.recipes.running import load_model, resume, train


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A mean-field run with a weight of which ties of several ranks save numbers."""
    from plait.recipes.options import Options, TrainingOptions

    options = Options(
        model=ModelOptions(widths=(8,), posterior="mean-field"),
        training=TrainingOptions(epochs=3, batch_size=64, samples=4),
    )
    return train(options, tmp_path_factory.mktemp("run") / "digits", progress=False).folder.path


def test_a_compressed_run_is_a_run(run, tmp_path):
    before = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
    found = compress_run(run, tmp_path / "tied", rank=2, num_samples=4, progress=False)
    assert found.folder.ranks == {"layers.0.weight": 2, "layers.1.weight": 2}
    bnn = load_model(RunFolder.open(tmp_path / "tied"))
    assert [row.posterior for row in bnn.sites if row.path == "layers.0.weight"] == ["Tied(2)"]
    np.testing.assert_array_equal(
        bnn.posteriors["layers.0.weight"].std, found.compression.model.posteriors["layers.0.weight"].std
    )
    # The metrics of the new run are those of evaluating it again.
    again = evaluate_run(tmp_path / "tied", num_samples=4, progress=False).scored.evaluation
    for name in ("nll", "accuracy", "negative_elbo"):
        assert again.metrics[name].value == pytest.approx(found.after[name].value, rel=1e-6)
        assert found.before[name].standard_error > 0
    np.savez(tmp_path / "x.npz", x=np.zeros((3, 8, 8), np.float32))
    assert len(predict_file(tmp_path / "tied", tmp_path / "x.npz", tmp_path / "y.csv", num_samples=2)["predicted"]) == 3
    assert "tied to rank 2" in (tmp_path / "tied" / "report.html").read_text()
    assert {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()} == before


def test_what_it_cost_is_written_down(run, tmp_path):
    found = compress_run(run, tmp_path / "tied", rank=1, num_samples=4, progress=False)
    said = json.loads((tmp_path / "tied" / "compression.json").read_text())
    assert said["bytes_trained"] == list(found.compression.bytes)
    assert said["bytes_of_file"] == [(path / "model.safetensors").stat().st_size for path in (run, tmp_path / "tied")]
    assert found.file_bytes[1] < found.file_bytes[0]
    assert said["metrics_before"]["nll"]["value"] == pytest.approx(found.before["nll"].value)
    assert [row[0] for row in found.table().rows] == [
        *("-ELBO per example", "NLL", "accuracy", "bytes trained", "bytes of the file")
    ]


def test_the_rank_may_be_left_to_a_budget_or_to_the_rise(run, tmp_path):
    # Training of three epochs has moved standard deviations little: one rank is enough for a generous bound.
    by_budget = compress_run(run, tmp_path / "a", budget=1e6, num_samples=2, progress=False)
    assert set(by_budget.folder.ranks.values()) == {1}
    by_rise = compress_run(run, tmp_path / "b", max_rise=10.0, num_samples=2, progress=False)
    assert set(by_rise.folder.ranks.values()) == {1}
    assert by_rise.compression.negative_elbo is not None
    with pytest.raises(ValueError, match="exactly one of `rank`, `budget` and `max_rise`"):
        compress_run(run, tmp_path / "c", rank=1, budget=1.0)


def test_a_compressed_run_has_no_training_to_go_on_with(run, tmp_path):
    compress_run(run, tmp_path / "tied", rank=1, num_samples=2, progress=False)
    with pytest.raises(ValueError, match="was made by `plait compress`"):
        resume(tmp_path / "tied")
    with pytest.raises(ValueError, match="no weight matrix of this model is under MeanField"):
        compress_run(tmp_path / "tied", tmp_path / "again", rank=1, num_samples=2, progress=False)


def test_nothing_is_overwritten(run, tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(ValueError, match="exists already: choose another `output`"):
        compress_run(run, tmp_path, rank=1)
    assert free_name_beside(tmp_path / "run", "compressed").name == "run-compressed"
    (tmp_path / "run-compressed").mkdir()
    assert free_name_beside(tmp_path / "run", "compressed").name == "run-compressed-2"


def test_a_rank_that_saves_nothing_is_refused(run, tmp_path):
    with pytest.raises(ValueError, match="no tie of its weights saves numbers"):
        compress_run(run, tmp_path / "tied", rank=50)
    assert not (tmp_path / "tied").exists()


def test_other_posteriors_have_nothing_to_tie(digits_run, tmp_path):
    with pytest.raises(ValueError, match="no weight matrix of this model is under MeanField"):
        compress_run(digits_run, tmp_path / "tied", rank=1)


@pytest.fixture
def tensors(tmp_path):
    rng = np.random.default_rng(0)
    save_file(
        {
            "fc.mu_weight": rng.normal(size=(10, 12)).astype(np.float32),
            "fc.rho_weight": (-3 + 0.1 * rng.normal(size=(10, 12))).astype(np.float32),
        },
        tmp_path / "model.safetensors",
    )
    return tmp_path / "model.safetensors"


NAMES = {"mean": "(.*)mu_weight", "scale": "(.*)rho_weight"}


def test_a_file_is_compressed_and_restored_beside_itself(tensors):
    target, found = compress_tensors(tensors, **NAMES, rank=1)
    assert target == tensors.with_name("model-compressed.safetensors")
    assert [scale.rank for scale in found.scales] == [1]
    restored = restore_tensors(target)
    assert restored.name == "model-compressed-restored.safetensors"
    given, back = load_file(tensors), load_file(restored)
    np.testing.assert_array_equal(back["fc.mu_weight"], given["fc.mu_weight"])
    # A rank-1 fit of noise of a tenth in rho: most of it remains as error.
    np.testing.assert_allclose(back["fc.rho_weight"], given["fc.rho_weight"], atol=0.5)


def test_files_are_not_overwritten_and_have_a_folder_to_go_to(tensors, tmp_path):
    with pytest.raises(ValueError, match="exists already: choose another `output`"):
        compress_tensors(tensors, tensors, **NAMES, rank=1)
    with pytest.raises(ValueError, match="there is no folder"):
        compress_tensors(tensors, tmp_path / "none" / "model.safetensors", **NAMES, rank=1)
