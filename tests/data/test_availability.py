"""The listing of what is here."""

import numpy as np

from plait.data import available, names


def test_lists_every_set(nowhere):
    (nowhere / "uci").mkdir(parents=True)
    np.savez(nowhere / "uci" / "yacht.npz", x=0, y=0, train_index=0, test_index=0)
    rows = {row.name: row for row in available()}
    assert tuple(rows) == names()
    assert (rows["digits"].present, rows["digits"].where) == (True, "in scikit-learn")
    assert (rows["yacht"].present, rows["yacht"].where) == (True, str(nowhere / "uci"))
    assert (rows["mnist"].present, rows["mnist"].where) == (False, "download 12 MB")
    assert (rows["mnist"].train, rows["mnist"].validation, rows["mnist"].test) == (50_000, 10_000, 10_000)
    assert rows["boston"].title == "median value of houses"


def test_says_what_cannot_be_had_now(monkeypatch):
    asked = []

    def unreachable(url):
        asked.append(url)
        return "cs.toronto" in url

    monkeypatch.setattr("plait.data.availability.reachable", unreachable)
    rows = {row.name: row for row in available(check_network=True)}
    assert rows["mnist"].where == "not available offline (12 MB)"
    assert rows["cifar10"].where == "download 170 MB"
    # Each host is asked once.
    assert len(asked) == 3
