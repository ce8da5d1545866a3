"""Stopping in time, with the best weights."""

import math

import numpy as np
import pytest

import plait
from plait.fit.early_stopping import Best


def test_patience_counts_looks_without_improvement(problem):
    best = Best(plait.EarlyStopping(2, min_delta=0.5), problem.bnn)
    verdicts = []
    for value in (5.0, 4.8, math.nan, 4.0):
        improved = best.is_improved_by(value)
        if improved:
            best.value, best.waited = value, 0
        verdicts.append((improved, best.exhausted))
    assert verdicts == [(True, False), (False, False), (False, True), (True, False)]


@pytest.mark.parametrize("monitor", ["negative_elbo", "nll"])
def test_the_best_weights_come_back(problem, monitor):
    # Few examples, a large step and no KL: the validation data soon looks worse.
    options = {"data": problem.make_data(16), "validation": problem.make_data(100, seed=9), "kl_schedule": 0.0}
    options |= {"optimizer": plait.Gradient(problem.adam), "epochs": 200}
    fit = problem.fit(early_stopping=plait.EarlyStopping(5, monitor=monitor), **options)
    values = fit.history[f"validation_{monitor}"]
    assert fit.ending == "early stopping"
    assert len(values) == np.argmin(values) + 1 + 5
    assert fit.best.step == 2 * (np.argmin(values) + 1)
    assert fit.best.value == values.min()
    problem.assert_equal(fit.model, problem.fit(**(options | {"epochs": None, "steps": fit.best.step})).model)
    assert "best at step" in str(fit)


def test_without_patience_the_best_is_only_kept(problem):
    options = {"validation": problem.data, "epochs": 6, "early_stopping": plait.EarlyStopping(None, min_delta=100.0)}
    fit = problem.fit(**options)
    assert (fit.ending, fit.step, fit.best.step) == ("finished", 30, 5)
    problem.assert_equal(fit.model, problem.fit(epochs=1).model)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"early_stopping": 3}, r"early stopping looks at validation data: pass `validation=\(x, y\)`"),
        ({"early_stopping": 0}, "`patience` is a number of looks and must be at least 1, got 0"),
        ({"early_stopping": 3, "replicas": 2, "data": None}, "replicas train as one program and stop together"),
    ],
)
def test_what_cannot_stop_early_is_refused(problem, options, says):
    if "data" in options:
        options = options | {"data": problem.data, "validation": problem.data}
    with pytest.raises(ValueError, match=says):
        problem.fit(**({"validation": problem.data if options["early_stopping"] == 0 else None} | options))


def test_an_unknown_monitor_is_refused():
    with pytest.raises(ValueError, match="`monitor` must be 'negative_elbo' or 'nll', got 'loss'"):
        plait.EarlyStopping(3, monitor="loss")
