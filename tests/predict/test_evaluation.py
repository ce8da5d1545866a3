"""How an evaluation is read."""

import json
import math

import numpy as np

import plait
from plait.metrics import Estimate, ReliabilityCurve

CURVE = ReliabilityCurve(
    np.asarray([0.0, 0.5, 1.0]), np.asarray([math.nan, 0.9]), np.asarray([math.nan, 1.0]), np.asarray([0, 2])
)
CLASSES = plait.Evaluation(
    nll=Estimate(0.5, 0.1),
    gibbs_nll=Estimate(0.75, 0.1),
    kl=123.456,
    num_examples=1234,
    num_samples=100,
    negative_elbo=Estimate(12.0, 0.25),
    accuracy=Estimate(0.9, 0.03),
    brier=Estimate(0.25, math.nan),
    ece=Estimate(0.05, 0.01),
    reliability=CURVE,
    over_samples={"nll": 0.001, "accuracy": 0.0},
)
REGRESSION = plait.Evaluation(
    Estimate(0.5, 0.1), Estimate(0.75, 0.1), None, 9, 1, rmse=Estimate(2.0, 0.3), coverage={0.9: Estimate(0.8, 0.1)}
)


def test_it_prints_as_an_aligned_table():
    assert str(CLASSES).splitlines() == [
        "1,234 examples, 100 weight samples",
        "----------------------------------------------",
        "                   over examples  over samples",
        "----------------------------------------------",
        "NLL                0.50 ± 0.10    ± 0.001",
        "Gibbs NLL          0.75 ± 0.10",
        "-ELBO per example  12.0 ± 0.2",
        "accuracy           0.90 ± 0.03    ± 0",
        "Brier score        0.25 ± nan",
        "calibration error  0.050 ± 0.010",
        "KL in nats         123.5",
    ]
    assert "coverage 90 %  0.80 ± 0.10" in str(REGRESSION)
    assert "KL" not in str(REGRESSION)


def test_metrics_are_those_there_are():
    assert list(CLASSES.metrics) == ["nll", "gibbs_nll", "negative_elbo", "accuracy", "brier", "ece"]
    assert list(REGRESSION.metrics) == ["nll", "gibbs_nll", "rmse", "coverage_90"]
    assert REGRESSION.accuracy is None
    assert REGRESSION.coverage[0.9].value == 0.8


def test_it_becomes_strict_json():
    found = json.loads(json.dumps(CLASSES.to_dict(), allow_nan=False))
    assert found["metrics"]["nll"] == {"value": 0.5, "standard_error": 0.1, "standard_error_over_samples": 0.001}
    assert found["metrics"]["brier"] == {"value": 0.25, "standard_error": None}
    assert found["reliability"]["accuracy"] == [None, 1.0]
    assert found["reliability"]["count"] == [0, 2]
    assert (found["num_examples"], found["num_samples"], found["kl"]) == (1234, 100, 123.456)
    assert json.loads(json.dumps(REGRESSION.to_dict(), allow_nan=False))["reliability"] is None
