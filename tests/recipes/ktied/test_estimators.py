"""The comparison of estimators, small: digits, one step or two, few draws."""

import dataclasses

import numpy as np
import pytest

from plait.recipes.ktied import estimators
from plait.recipes.ktied.training import Plain

SMALL = dataclasses.replace(
    estimators.SMALL,
    protocol=dataclasses.replace(estimators.SMALL.protocol, signal_steps=(6,), batch_size=512),
    ranks=(2,),
    estimators=("weights", "local"),
    draws=2,
)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    output = tmp_path_factory.mktemp("estimators")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimators, "SMALL", SMALL)
        return output, estimators.reproduce(output, quick=True)


def test_every_pair_has_a_row(done):
    _, table = done
    assert [row[:2] for row in table.rows] == [("2", "weights"), ("2", "local")]


def test_the_page_has_tables_and_the_picture(done):
    output, _ = done
    page = (output / "ktied-estimators.md").read_text()
    assert "Made by `plait reproduce ktied-estimators --quick`" in page
    assert "steps to target" in page
    assert "variance of means, start" in page
    assert (output / "ktied-estimators" / "seconds.png").stat().st_size


def test_what_is_done_is_not_done_again(done, monkeypatch):
    output, table = done
    monkeypatch.setattr(estimators, "SMALL", SMALL)
    monkeypatch.setattr(estimators, "gradient_noise", None)
    monkeypatch.setattr("plait.recipes.ktied.training.fit", None)
    assert estimators.reproduce(output, quick=True).rows == table.rows


def test_the_table_says_when_the_target_was_reached():
    steps = np.array([10, 20, 30])

    def plain(*curve: float, pace: float) -> Plain:
        return Plain(steps, np.array([curve]), {}, 1.0, pace)

    trained = {(None, "weights"): plain(9, 3, 1, pace=0.1), (2, "local"): plain(9, 8, 7, pace=0.2)}
    table = estimators.training_table(dataclasses.replace(SMALL, target=4.0), trained)
    assert table.columns[-1] == "-ELBO at 3 s"
    assert table.rows[0] == ("full", "weights", "100.0", "20", "2.0", "1", "1")
    # After three seconds the slower one is between its first look and its second.
    assert table.rows[1] == ("2", "local", "200.0", "never", "", "7", "8.5")
