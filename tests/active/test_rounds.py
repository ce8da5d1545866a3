import numpy as np

from plait.active import Round
from plait.active.rounds import rounds_table


def test_a_row_for_each_round():
    rounds = [Round(20, {"rmse": 0.5}, np.asarray([3]), np.asarray([1.25])), Round(21, {"rmse": 0.4, "nll": 1.0})]
    table = rounds_table(rounds)
    assert table.columns == ("round", "labels", "rmse", "nll", "best score")
    assert table.rows == [("1", "20", "0.5", "", "1.25"), ("2", "21", "0.4", "1", "")]
