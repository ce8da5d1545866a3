"""A whole study, small: a few digits of each kind, one step or two."""

import dataclasses

import numpy as np
import pytest

from plait.recipes.rank1 import configs, targets
from plait.recipes.rank1.experiment import EXPERIMENTS, Changes, Experiment, main
from plait.recipes.rank1.methods import methods
from plait.recipes.rank1.page import verdicts
from plait.recipes.rank1.study import Scope, variations
from plait.recipes.rank1.training import augmented_batches

PROTOCOL = dataclasses.replace(
    configs.shrunk(configs.MNIST),
    data="digits",
    network=lambda dataset, key: configs.perceptron(dataset, key, widths=(4,)),
    training_examples=64,
    test_examples=8,
    corrupted_examples=4,
    batch_size=32,
)
SCOPE = Scope(seeds=1, variations=False, kinds=("contrast",), only=("deterministic", "rank-1 Gaussian"))
EXPERIMENT = Experiment("rank1", PROTOCOL, (targets.CIFAR10,), scope=SCOPE)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    output = tmp_path_factory.mktemp("study")
    return output, EXPERIMENT.run(PROTOCOL, SCOPE, output, "plait reproduce rank1", None, 0)


def test_every_method_has_a_row(done):
    _, table = done
    assert [row[0] for row in table.rows] == list(SCOPE.only)
    assert table.columns[4:8] == ("cNLL", "cA", "cECE", "mCE")
    numbers = [int(row[8].replace(",", "")) for row in table.rows]
    assert numbers[0] < numbers[1]


def test_the_page_says_how_it_was_made_and_what_the_paper_has(done):
    output, _ = done
    page = (output / "rank1.md").read_text()
    for part in ("Made by `plait reproduce rank1`", "Claims of the paper", "](rank1/severity.png)", ".159", "36.6M"):
        assert part in page
    assert (output / "rank1" / "severity.png").stat().st_size


def test_what_is_done_is_not_done_again(done, monkeypatch):
    output, table = done
    monkeypatch.setattr("plait.recipes.rank1.study.train", None)
    assert EXPERIMENT.run(PROTOCOL, SCOPE, output, "again", None, 0).rows == table.rows


def test_the_claims_are_judged():
    assert verdicts({}) == []


def test_every_variation_of_the_paper_has_a_table():
    tables = variations(configs.MNIST)
    assert len(tables) == 8
    assert [method.samples for method in tables["Weight samples in evaluations"]] == [1, 4, 25]
    assert {method.reduction for method in tables["Reading of the likelihood"]} == {
        *("average", "mixture", "marginal_probability", "marginal_logits")
    }
    assert len(methods(configs.MNIST)) == 7


def test_a_study_that_is_cut_says_so(tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(Experiment, "run", lambda self, *given: asked.append(given) or targets)
    monkeypatch.setattr(targets, "text", lambda: "the table", raising=False)
    assert main(["rank1-wrn", "--epochs", "3", "--no-variations", "--output", str(tmp_path)]) == 0
    protocol, scope, output, command, *_ = asked[0]
    assert (protocol.epochs, protocol.kl_epochs, scope.seeds, output) == (3, 2, 1, tmp_path)
    assert command == "python -m plait.recipes.rank1.experiment rank1-wrn --epochs 3 --no-variations"
    assert "the table" in capsys.readouterr().out
    assert Changes(study="rank1", only=("dropout", "mean field")).shown() == "rank1 --only dropout 'mean field'"

    def stop(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(Experiment, "run", stop)
    assert main(["rank1"]) == 130
    assert "the same command goes on" in capsys.readouterr().err


def test_a_quick_study_is_compared_with_nothing(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(Experiment, "run", lambda self, *given: asked.append((self, *given)))
    EXPERIMENTS["rank1-cifar10"].reproduce(tmp_path, quick=True, seed=2)
    experiment, protocol, _, _, command, *_ = asked[0]
    assert not experiment.targets
    assert "so little of it" in protocol.title
    assert command == "plait reproduce rank1-cifar10 --quick --seed 2"


def test_augmented_pictures_are_cut_from_their_own(tmp_path):
    x = np.arange(1, 7, dtype=np.float32)[:, None, None] * np.ones((6, 8, 8), np.float32)
    make = augmented_batches(x, np.arange(6), 3, seed=0)
    batches, again = list(make(0)), list(make(0))
    assert len(batches) == 2
    for (pictures, labels), (same, _) in zip(batches, again, strict=True):
        assert pictures.shape == (3, 8, 8)
        assert all(set(np.unique(p)) <= {0, label + 1} for p, label in zip(pictures, labels, strict=True))
        np.testing.assert_array_equal(pictures, same)
