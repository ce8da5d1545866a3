"""Tests see no data of the machine they run on: an empty cache, an empty current folder, no PLAIT_DATA, no network."""

import functools
import http.server
import threading

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """An empty machine; returns the folder that is the user cache."""
    here = tmp_path / "empty" / "checkout"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.delenv("PLAIT_DATA", raising=False)
    # A connection to this address is refused at once; nothing leaves the machine.
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("https_proxy", "http_proxy", "all_proxy", "ALL_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    cache = tmp_path / "cache"
    monkeypatch.setattr("pooch.os_cache", lambda project: cache)
    monkeypatch.setattr("plait.data.locate._bases", lambda: [here])
    return cache


@pytest.fixture
def server(tmp_path):
    """(folder, address): a web server for the files in a folder."""
    folder = tmp_path / "home"
    folder.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder)) as web:
        thread = threading.Thread(target=web.serve_forever, args=(0.01,))
        thread.start()
        yield folder, f"http://127.0.0.1:{web.server_address[1]}"
        web.shutdown()
        thread.join()


@pytest.fixture
def images():
    """x_train, y_train, x_test and y_test like MNIST's, with few of them."""
    rng = np.random.default_rng(0)
    return {
        "x_train": rng.integers(0, 256, (12, 28, 28)).astype(np.uint8),
        "y_train": (np.arange(12) % 10).astype(np.uint8),
        "x_test": rng.integers(0, 256, (5, 28, 28)).astype(np.uint8),
        "y_test": np.arange(5).astype(np.uint8),
    }
