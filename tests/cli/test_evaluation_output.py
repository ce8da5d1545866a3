from types import SimpleNamespace

import numpy as np

from plait.cli.evaluation_output import print_scored
from plait.metrics import Estimate, ReliabilityCurve
from plait.predict import Evaluation


def test_empty_bins_are_left_out(capsys):
    curve = ReliabilityCurve(
        np.linspace(0, 1, 3), np.asarray([np.nan, 0.9]), np.asarray([np.nan, 0.8]), np.asarray([0, 7])
    )
    found = Evaluation(Estimate(1.0, 0.1), Estimate(1.1, 0.1), None, 7, 4, reliability=curve)
    print_scored(SimpleNamespace(name="some", evaluation=found), None, reliability=True)
    shown = capsys.readouterr().out
    assert "0.500 to 1.000" in shown
    assert "0.000 to 0.500" not in shown
    assert "KL" not in shown
