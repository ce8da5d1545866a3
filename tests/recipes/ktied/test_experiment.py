"""A whole study, small: digits, one tie, a few steps."""

import dataclasses

import pytest

from plait.recipes.ktied import mlp, study
from plait.recipes.ktied.experiment import Changes, Experiment, main

PROTOCOL = dataclasses.replace(
    mlp.SMALL, epochs=2, batch_size=512, num_samples=2, ranks=(1,), signal_steps=(3, 6), seeds=1
)
EXPERIMENT = Experiment("ktied", "mlp", PROTOCOL, PROTOCOL, mlp.TARGETS)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    output = tmp_path_factory.mktemp("study")
    return output, EXPERIMENT.reproduce(output)


def test_the_table_has_the_papers_numbers_beside_ours(done):
    _, table = done
    rows = {(row[0], row[1], row[2]): row for row in table.rows}
    assert rows["trained", "1", "NLL"][3] == "0.155 ± 0.0043"
    assert rows["truncated", "full", "accuracy"][3] == "0.976 ± 0.0015"
    # The paper's NLL of MNIST is far from that of a network after two epochs of digits.
    assert float(rows["trained", "1", "NLL"][5]) > 2
    assert ("no annealing, σ₀ 0.01, learning rate 0.001", "full", "-ELBO at 6") in rows


def test_the_page_says_how_it_was_made_and_has_its_figures(done):
    output, _ = done
    page = (output / "ktied.md").read_text()
    assert "Made by `plait reproduce ktied`" in page
    assert "Nothing is scaled down." in page
    for name in ("spectra.png", "stds.png", "convergence.png"):
        assert f"](ktied/{name})" in page
        assert (output / "ktied" / name).stat().st_size
    for heading in ("Ties in training", "truncated", "Spectra", "Convergence", "Signal in gradients"):
        assert heading in page


def test_what_is_done_is_not_done_again(done, monkeypatch):
    output, table = done
    monkeypatch.setattr("plait.recipes.ktied.training.fit", None)
    monkeypatch.setattr("plait.recipes.ktied.measuring.evaluate", None)
    assert EXPERIMENT.reproduce(output).rows == table.rows


def test_a_study_that_is_cut_short_says_so(tmp_path, capsys):
    cut = Changes(ranks=(1, 2), starts=0, num_samples=1, output=tmp_path / "results", seed=0)
    assert cut.shown() == "--num-samples 1 --ranks 1 2 --starts 0"
    options = [*cut.shown().split(), "--output", str(cut.output)]
    assert main(EXPERIMENT, options) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()[-18:]} == {"trained", "truncated"}
    page = (tmp_path / "results" / "ktied.md").read_text()
    assert "Made by `python -m plait.recipes.ktied.mlp --num-samples 1 --ranks 1 2 --starts 0`" in page
    assert "num samples 1 instead of 2; ranks 1, 2 instead of 1; starts none instead of" in page


def test_a_study_that_is_stopped_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def stop(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr("plait.recipes.ktied.experiment.run_study", stop)
    assert main(EXPERIMENT, ["--output", str(tmp_path)]) == 130
    assert "the same command goes on" in capsys.readouterr().err


def test_a_quick_study_is_compared_with_nothing(monkeypatch, tmp_path):
    asked = {}
    monkeypatch.setattr("plait.recipes.ktied.experiment.run_study", lambda *given, **more: asked.update(more))
    monkeypatch.setattr("plait.recipes.ktied.experiment.write_page", lambda *given: asked.update(page=given))
    monkeypatch.setattr("plait.recipes.ktied.experiment.comparison_table", lambda protocol, targets, results: targets)
    targets = EXPERIMENT.reproduce(tmp_path, quick=True, seed=3)
    assert not targets.trained
    assert asked["page"][-1] == "plait reproduce ktied --quick --seed 3"
    assert asked["seed"] == 3


def test_the_study_is_told_as_it_goes(done, capsys):
    study.run_study(PROTOCOL, done[0])
    assert "trained full" in capsys.readouterr().out
