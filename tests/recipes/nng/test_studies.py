"""The studies of few labels, with chains and models that are made up."""

import dataclasses

import numpy as np
import pytest

from plait.recipes.nng import active, bands, hmc
from plait.recipes.nng.nuts_trials import Functions
from plait.recipes.nng.part import main
from plait.recipes.nng.protocol import Protocol
from plait.recipes.nuts import Agreement
from plait.report import Table

PROTOCOL = dataclasses.replace(hmc.SMALL, methods=("NNG-MVG",), num_others=6)
ACTIVE = dataclasses.replace(active.SMALL, num_others=5, num_samples=3)


def made_up(method, training, sampling, hidden, data, inputs, *, key, num_samples, thinned=False):
    """Functions whose variance grows from one point to the next, faster by methods other than chains."""
    trials, count = inputs.shape[:2]
    assert len(data[0]) == len(data[1]) == trials
    variance = np.tile(np.linspace(1, 2, count) ** (1 if method == "HMC" else 2), (trials, 1))
    note = Agreement(1.01, 1.0, 90.0, 100.0, 0.25)
    return Functions(np.zeros((trials, count)), variance, [note] * trials if method == "HMC" else [])


@pytest.fixture(autouse=True)
def nothing_is_computed(monkeypatch):
    for module in (active, hmc, bands):
        monkeypatch.setattr(module, "find_functions", made_up)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("studies")


def test_variances_are_compared_with_those_of_chains(folder, capsys, monkeypatch):
    table = hmc.run_study(PROTOCOL, folder, command="this", line=bands.SMALL_LINE)
    expected = np.corrcoef(np.linspace(1, 2, 6), np.linspace(1, 2, 6) ** 2)[0, 1]
    assert [row[:3] for row in table.rows] == [("diabetes", "NNG-MVG", "")]
    assert float(table.rows[0][3].split()[0]) == pytest.approx(expected, abs=1e-3)
    assert "diabetes, NNG-MVG: correlation " in capsys.readouterr().out
    page = (folder / "nng-hmc.md").read_text()
    assert "Made by `this`. Departs from the study: sets diabetes instead of boston" in page
    assert "| diabetes | 1.010 | 1.000 | 90 | 100 | 25.00% |" in page
    assert (folder / "nng-hmc" / "bands.png").stat().st_size
    monkeypatch.setattr(hmc, "find_functions", None)
    monkeypatch.setattr(bands, "find_functions", None)
    assert hmc.run_study(PROTOCOL, folder, command="this", line=bands.SMALL_LINE).rows == table.rows


def test_active_learning_picks_the_largest_variance(folder, capsys, monkeypatch):
    table = active.run_study(ACTIVE, folder, command="this")
    assert [row[1:3] for row in table.rows] == [
        ("NNG-MVG", "random"),
        ("NNG-MVG", "active"),
        ("HMC", "random"),
        ("HMC", "active"),
    ]
    assert "diabetes, HMC: RMSE random" in capsys.readouterr().out
    page = (folder / "nng-active.md").read_text()
    assert "1 acquisitions" in page
    assert "active / random" in page
    part = active.learn(ACTIVE, "diabetes", "HMC", data_dir=None, seed=0)
    assert np.shape(part["rmse"]) == (2, 2, 2)
    # The last of the pool, in both trials of the active arm; of the other arm by chance.
    size = len(part["picked"])
    largest = {tuple(picked) for picked in part["picked"][size // 2 :]}
    assert len(largest) == 1
    assert next(iter(largest))[0] >= max(picked[0] for picked in part["picked"])
    # Both arms start alike.
    np.testing.assert_array_equal(part["rmse"][0][0], part["rmse"][1][0])
    monkeypatch.setattr(active, "learn", None)
    assert active.run_study(ACTIVE, folder, command="this").rows == table.rows


def test_a_protocol_says_what_it_departs_in():
    assert Protocol().changes(Protocol()) == "Nothing is scaled down."
    assert Protocol(trials=3).changes(Protocol()) == "Departs from the study: trials 3 instead of 10."
    assert "sets" not in Protocol().settings()


def test_a_quick_study_says_so(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(
        active,
        "learn",
        lambda protocol, *given, **more: (
            asked.append(protocol)
            or {
                "rmse": [[[1.0, 2.0]]] * 2,
                "seconds": 1.0,
                "agreement": [dataclasses.asdict(Agreement(1.0, 1.0, 1.0, 1.0, 0.0))],
            }
        ),
    )
    active.reproduce(tmp_path, quick=True, seed=3)
    assert asked[0] == active.SMALL
    assert "plait reproduce nng-active --quick --seed 3" in (tmp_path / "nng-active.md").read_text()


def test_a_part_of_a_study_says_what_it_is(tmp_path, capsys):
    asked = {}

    def run(protocol, output, **options):
        asked.update(options, protocol=protocol, output=output)
        if protocol.trials == 3:
            raise KeyboardInterrupt
        return Table(("a",), [("b",)])

    argv = ["--sets", "yacht", "wine", "--methods", "noisy Adam", "--seed", "2", "--output", str(tmp_path)]
    assert main("hmc", run, Protocol(), argv) == 0
    assert asked["protocol"] == Protocol(sets=("yacht", "wine"), methods=("noisy Adam",))
    assert asked["command"] == "python -m plait.recipes.nng.hmc --sets yacht wine --methods 'noisy Adam' --seed 2"
    assert (asked["output"], asked["seed"]) == (tmp_path, 2)
    assert main("hmc", run, Protocol(), ["--trials", "3"]) == 130
    assert "the same command goes on" in capsys.readouterr().err
