import json

import jax
import numpy as np
import pytest

from plait.recipes.run_folder import RunFolder
from plait.recipes.running import load_model
from plait.recipes.scoring import detect, metrics_of, score
from plait.recipes.training_data import load_data, load_foreign

KEY = jax.random.key(3)


@pytest.fixture(scope="module")
def digits(digits_run):
    folder = RunFolder.open(digits_run)
    return folder, load_model(folder), load_data(folder.options.data).test


def test_evaluation_and_predictions_are_of_the_same_weights(digits):
    folder, bnn, test = digits
    scored = score(bnn, "digits", test, folder.facts, key=KEY, num_samples=3, progress=False)
    assert scored.evaluation.nll.value == pytest.approx(-scored.predictive.log_prob().mean(), rel=1e-5)
    assert scored.evaluation.negative_elbo is not None


def test_foreign_inputs_are_told_apart_by_the_uncertainties_of_the_task(digits):
    folder, bnn, test = digits
    scored = score(bnn, "digits", test, folder.facts, key=KEY, num_samples=3, progress=False)
    x = load_foreign("rotated", folder.facts, folder.options.data, test)
    foreign = detect(bnn, "rotated", x, scored, folder.facts, key=KEY, num_samples=3, progress=False)
    assert set(foreign.detection) == {"entropy", "mutual_information"}
    metrics = json.loads(json.dumps(metrics_of(scored, foreign), allow_nan=False))
    assert metrics["data"] == "digits"
    assert 0 <= metrics["out_of_distribution"]["entropy"]["auroc"]["value"] <= 1
    assert metrics["out_of_distribution"]["num_examples"] == len(test.x)


def test_numbers_are_scored_in_the_units_of_the_data(line_run):
    folder = RunFolder.open(line_run)
    bnn, test = load_model(folder), load_data(folder.options.data).test
    scored = score(bnn, "line", test, folder.facts, key=KEY, num_samples=3, progress=False)
    targets = folder.facts.target_scale.original_mean(test.y)
    assert targets.min() > 800
    expected = np.sqrt(np.mean((scored.predictive.mean - targets) ** 2))
    assert scored.evaluation.rmse.value == pytest.approx(expected, rel=1e-5)
    foreign = detect(bnn, "far", test.x + 50, scored, folder.facts, key=KEY, num_samples=3, progress=False)
    assert set(foreign.detection) == {"variance", "epistemic"}
