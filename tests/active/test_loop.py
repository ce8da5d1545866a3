import types

import jax
import numpy as np
import pytest

from plait.active import Learner

START = np.arange(4)


def make_learner(train, problem, **options):
    x, y = problem
    given = {"labelled": (START, y[START]), "key": jax.random.key(1), "num_samples": 30} | options
    return Learner(x, train, **given)


def test_the_input_that_is_far_out_comes_first(train, problem):
    learner = make_learner(train, problem)
    asked = learner.ask()
    assert asked.tolist() == [17]
    # Asking again, with nothing told in between, neither trains nor changes anything.
    assert learner.ask().tolist() == [17]
    assert len(learner.rounds) == 1
    learner.tell(asked, problem[1][asked])
    assert learner.pool.labelled.tolist() == [0, 1, 2, 3, 17]
    assert learner.ask().tolist() != [17]


def test_run_is_ask_and_tell_and_a_last_training(train, problem, capsys):
    def label(indices):
        return problem[1][indices]

    def evaluate(model, key):
        gap = model.mean() - 1
        return {"error": np.square(np.asarray(gap)).mean()}

    whole = make_learner(train, problem, count=2, evaluate=evaluate, progress=True)
    rounds = whole.run(label, 2)
    parts = make_learner(train, problem, count=2)
    for _ in range(2):
        asked = parts.ask()
        parts.tell(asked, label(asked))
    assert whole.pool.labelled.tolist() == parts.pool.labelled.tolist()
    assert [one.num_labelled for one in rounds] == [4, 6, 8]
    assert [None if one.asked is None else len(one.asked) for one in rounds] == [2, 2, None]
    assert rounds[0].scores[0] >= rounds[0].scores[1]
    assert rounds[-1].metrics["error"] < 1
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("4 labels, error ")
    assert "; next 17, " in told[0]
    assert len(told) == 3
    table = str(whole).splitlines()
    assert table[1].split() == ["round", "labels", "error", "best", "score"]
    # A run may go on where it was.
    assert len(whole.run(label, 1)) == 4


def test_chance_finds_other_inputs_with_another_key(train, problem):
    found = {
        tuple(make_learner(train, problem, acquisition="uniform", count=5, key=jax.random.key(s)).ask()) for s in (0, 1)
    }
    assert len(found) == 2


def test_a_fit_is_as_good_as_its_model(train, problem):
    def fit(x, y, *, key):
        return types.SimpleNamespace(model=train(x, y, key=key))

    assert make_learner(fit, problem).ask().tolist() == [17]


def test_what_cannot_work_is_refused(train, problem):
    with pytest.raises(ValueError, match="`count` must be a positive integer, got 0"):
        make_learner(train, problem, count=0)
    with pytest.raises(TypeError, match=r"`train` must give a Fit or a BayesianModel .* got a int"):
        _ = make_learner(lambda x, y, key: 3, problem).model
    with pytest.raises(ValueError, match=r"a score for each of the 40 inputs, got shape \(2,\)"):
        make_learner(train, problem, acquisition=lambda prediction, key: np.zeros(2)).ask()
    with pytest.raises(ValueError, match="`rounds` must be a whole number from 0, got -1"):
        make_learner(train, problem).run(lambda indices: None, -1)


def test_an_exhausted_pool_says_so(train, problem):
    learner = make_learner(train, problem, count=100)
    rest = learner.ask()
    assert len(rest) == 36
    learner.tell(rest, problem[1][rest])
    with pytest.raises(ValueError, match="asked for 1 inputs, and 0 are without a label"):
        learner.ask()
