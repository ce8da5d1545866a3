"""How long a run is, and what cannot be run."""

import pytest


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"epochs": 0}, "`epochs` must be a positive integer, got 0"),
        ({"epochs": None}, "say how long to train by one of `epochs=` and `steps=`"),
        ({"steps": 3}, "by one of `epochs=` and `steps=`"),
        ({"epochs": None, "steps": -1}, "`steps` must be a positive integer, got -1"),
        ({"epochs": True}, "`epochs` must be a positive integer, got True"),
        ({"batch_size": None}, "`batch_size` is required with arrays; it can be up to all 40 examples"),
        ({"batch_size": 41}, "`batch_size` 41 is larger than the data, which has 40 examples"),
        ({"batch_size": 0}, "`batch_size` must be a positive integer, got 0"),
        ({"dataset_size": 0}, "`dataset_size` must be a positive integer, got 0"),
        ({"accumulate": 3}, "a batch of 8 examples cannot be cut into 3 equal parts for `accumulate`"),
        ({"checkpoint": "x", "checkpoint_every": 0}, "`checkpoint_every` must be a positive integer, got 0"),
    ],
)
def test_runs_that_make_no_sense_are_refused(problem, options, says):
    with pytest.raises(ValueError, match=says):
        problem.fit(**({"epochs": 2} | options))


def test_examples_that_are_left_over_wait_for_the_next_epoch(problem):
    fit = problem.fit(batch_size=15, epochs=3)
    assert fit.history["step"].tolist() == [2, 4, 6]
