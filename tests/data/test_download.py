"""Downloads from a server of the test's own, and what is said without one."""

import dataclasses
import hashlib

import numpy as np
import pytest

from plait.data import download, load, registry
from plait.data.sets.entry import Form, Remote


@pytest.fixture
def yacht(server, monkeypatch):
    """The yacht set with its home on the test's server; returns (file there, table)."""
    folder, address = server
    table = np.random.default_rng(0).normal(size=(40, 7))
    np.savetxt(folder / "data.txt", table)
    raw = (folder / "data.txt").read_bytes()
    entry = registry.ENTRIES["yacht"]
    remote = Remote(f"{address}/data.txt", f"sha256:{hashlib.sha256(raw).hexdigest()}", len(raw))
    form = Form(("uci/yacht.txt",), entry.download.read, remotes=(remote,))
    monkeypatch.setitem(registry.ENTRIES, "yacht", dataclasses.replace(entry, forms=(form,)))
    return folder / "data.txt", table


def test_a_download_is_kept_in_the_cache(yacht, nowhere):
    file, table = yacht
    data = load("yacht")
    assert len(data.train.x) == 36
    np.testing.assert_allclose(np.sort(data.train.y[:, 0])[0], np.sort(table[:, 6])[0], rtol=0.5)
    assert (nowhere / "uci" / "yacht.txt").read_bytes() == file.read_bytes()
    file.unlink()
    np.testing.assert_array_equal(load("yacht").train.x, data.train.x)


def test_a_file_with_another_checksum_is_refused(yacht, nowhere):
    file, _ = yacht
    file.write_text("changed\n")
    with pytest.raises(ValueError, match=r"data.txt arrived damaged, or has changed"):
        load("yacht")
    assert not (nowhere / "uci" / "yacht.txt").exists()


def test_a_file_that_is_gone_says_where_to_get_it(yacht, nowhere, tmp_path):
    file, _ = yacht
    file.unlink()
    with pytest.raises(FileNotFoundError) as caught:
        load("yacht", tmp_path)
    message = str(caught.value)
    assert "yacht is not on this machine and could not be downloaded (127.0.0.1 answered 404)" in message
    assert f"looked in {tmp_path}" in message
    assert f"as {nowhere / 'uci' / 'yacht.txt'}" in message
    assert "sha256:" in message
    assert "PLAIT_DATA" in message


def test_without_a_network_the_address_and_the_place_are_named(nowhere):
    with pytest.raises(FileNotFoundError) as caught:
        load("cifar10")
    message = str(caught.value)
    assert "no connection to www.cs.toronto.edu" in message
    assert "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz (170 MB, md5:" in message
    assert str(nowhere / "cifar-10-binary.tar.gz") in message


def test_files_of_another_kind_are_mentioned(nowhere):
    (nowhere / "cifar").mkdir(parents=True)
    np.savez(nowhere / "cifar" / "cifar10.npz", y_train=np.zeros(3), y_test=np.zeros(3))
    (nowhere / "cifar10.npz").write_bytes(b"no zip")
    with pytest.raises(FileNotFoundError) as caught:
        load("cifar10")
    assert f"but {nowhere / 'cifar' / 'cifar10.npz'} has no x_train, x_test" in str(caught.value)
    assert f"but {nowhere / 'cifar10.npz'} is no readable npz file" in str(caught.value)


def test_a_cache_that_cannot_be_written_is_said_so(yacht, nowhere):
    nowhere.write_text("a file where the folder should be")
    with pytest.raises(FileNotFoundError, match="could not be downloaded"):
        load("yacht")


def test_a_set_without_a_home_is_said_so(nowhere):
    entry = dataclasses.replace(registry.ENTRIES["digits"], name="secret")
    with pytest.raises(FileNotFoundError, match="secret has no public home"):
        download.download(entry, (), ())


def test_sizes_are_written_for_people():
    assert [download.megabytes(size) for size in (170_052_171, 2_852_060, 4_542)] == ["170 MB", "2.9 MB", "5 kB"]


def test_reachable(server):
    assert download.reachable(server[1])
    assert not download.reachable("http://127.0.0.1:9/file")
