"""A file is there whole or not at all."""

import pytest

from plait.checkpoint.atomic import write_whole


def test_a_file_is_replaced_at_once(tmp_path):
    write_whole(tmp_path / "a", b"one")
    write_whole(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"two"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    write_whole(tmp_path / "a", b"one")

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"one"
    assert len(list(tmp_path.iterdir())) == 1


def test_folders_are_not_files(tmp_path):
    with pytest.raises(ValueError, match="is a folder; give the name of a file"):
        write_whole(tmp_path, b"")
    with pytest.raises(ValueError, match=r"the folder .*missing does not exist"):
        write_whole(tmp_path / "missing" / "a", b"")
