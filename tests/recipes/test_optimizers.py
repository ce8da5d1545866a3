import dataclasses
from typing import get_args

import pytest

from plait.recipes.optimizers import NATURAL, fitting_model, make_optimizer, posterior_name
from plait.recipes.options import ModelOptions, OptimizerName, Options, TrainingOptions
from plait.recipes.run_folder import RunFolder
from plait.recipes.running import load_model, prepare, resume, train


def test_every_name_makes_an_optimizer():
    assert set(get_args(OptimizerName)) == {"adam", *NATURAL}
    for name in get_args(OptimizerName):
        made = make_optimizer(TrainingOptions(optimizer=name, learning_rate=0.1), 10)
        assert hasattr(made, "init")
    asked = make_optimizer(TrainingOptions(optimizer="noisy-kfac", learning_rate=0.3, train_samples=4), 10)
    assert asked.num_samples == 4
    assert float(asked.learning_rate(0)) == pytest.approx(0.3)
    assert float(asked.learning_rate(10)) == pytest.approx(0, abs=1e-7)


def test_natural_gradient_has_a_posterior_and_a_prior_of_its_own():
    options = Options(training=TrainingOptions(optimizer="noisy-adam"))
    assert posterior_name(options) == "noisy-adam"
    assert posterior_name(Options()) == "tied"
    assert fitting_model(Options()) == ModelOptions()
    assert fitting_model(options) == ModelOptions(posterior="mean-field", prior="he-normal")
    assert fitting_model(dataclasses.replace(options, model=ModelOptions(prior="normal"))).prior == "normal"
    for model in (ModelOptions(posterior="low-rank"), ModelOptions(rank=3), ModelOptions(components=2)):
        with pytest.raises(ValueError, match="'noisy-adam' has a posterior of its own: leave `posterior`"):
            fitting_model(dataclasses.replace(options, model=model))
    with pytest.raises(ValueError, match="`clip_norm` bounds the gradient of Adam; 'ivon' has no such bound"):
        make_optimizer(TrainingOptions(optimizer="ivon", clip_norm=1.0, learning_rate=0.1), 3)


def test_a_run_by_natural_gradient_can_be_loaded_and_resumed(tiny, tmp_path, line_csv):
    options = tiny(str(line_csv), epochs=1, optimizer="ivon")
    done = train(options, tmp_path / "run", progress=False)
    assert done.scored is not None
    loaded = load_model(RunFolder.open(tmp_path / "run"))
    assert loaded.num_params == done.fit.model.num_params
    assert "ivon posterior" in done.folder.report.read_text()
    assert resume(tmp_path / "run", progress=False).fit.step == done.fit.step


def test_the_model_of_a_run_has_the_posterior_of_its_optimizer(tiny, line_csv):
    job = prepare(tiny(str(line_csv), optimizer="noisy-kfac"))
    assert all("Matrix" in row.posterior for row in job.bnn.sites)
