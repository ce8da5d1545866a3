import json
import shutil

import numpy as np
import pytest

from plait.recipes.evaluating import evaluate_run


@pytest.fixture
def digits(digits_run, tmp_path):
    return shutil.copytree(digits_run, tmp_path / "digits")


def test_own_test_data_give_the_numbers_of_training_again(digits):
    before = json.loads((digits / "metrics.json").read_text())
    found = evaluate_run(digits, num_samples=4, progress=False)
    assert found.metrics == digits / "metrics.json"
    assert json.loads(found.metrics.read_text()) == before


def test_foreign_inputs_enter_metrics_and_report(digits):
    found = evaluate_run(digits, out_of_distribution="rotated", num_samples=2, by_sample=True, progress=False)
    assert found.foreign is not None
    metrics = json.loads(found.metrics.read_text())
    assert metrics["out_of_distribution"]["data"] == "rotated"
    assert "standard_error_over_samples" in metrics["metrics"]["nll"]
    assert "360 foreign inputs (rotated) told apart" in (digits / "report.html").read_text()


def test_other_data_are_written_beside_the_own(digits, tmp_path):
    own, report = (digits / "metrics.json").read_text(), (digits / "report.html").read_text()
    generator = np.random.default_rng(0)
    np.savez(tmp_path / "new ones.npz", x=generator.random((30, 8, 8)), y=np.arange(30) % 10)
    found = evaluate_run(digits, str(tmp_path / "new ones.npz"), num_samples=2, progress=False)
    assert found.metrics == digits / "metrics-new-ones.json"
    assert json.loads(found.metrics.read_text())["num_examples"] == 30
    assert (digits / "metrics.json").read_text() == own
    assert (digits / "report.html").read_text() == report
