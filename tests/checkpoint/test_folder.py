"""Checkpoints: which are kept, and what damage does to them."""

import errno
import json
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from plait.checkpoint import CheckpointFolder


def tree(value):
    return {"w": jnp.full((4, 3), value, jnp.float32), "empty": jnp.zeros((0, 2)), "key": jax.random.key(int(value))}


def files_of(folder, step):
    return [path for path in folder.folder_of(step).rglob("*") if path.is_file() and path.name != "manifest.json"]


@pytest.fixture
def folder(tmp_path):
    folder = CheckpointFolder(tmp_path / "run" / "checkpoints")
    folder.prepare(tree(0))
    for step in (10, 20):
        folder.save(step, tree(step), {"rows": [step, float("nan")]})
    return folder


def test_the_last_one_comes_back(folder):
    saved = folder.restore(tree(0))
    assert (saved.step, saved.notes["rows"][0]) == (20, 20)
    np.testing.assert_array_equal(saved.tree["w"], 20)
    assert saved.tree["empty"].shape == (0, 2)
    np.testing.assert_array_equal(jax.random.key_data(saved.tree["key"]), jax.random.key_data(jax.random.key(20)))
    assert folder.restore(tree(0), step=10).step == 10
    assert folder.notes(step=10)["rows"][0] == 10


def test_the_last_few_and_the_best_are_kept(tmp_path):
    folder = CheckpointFolder(tmp_path, keep=2)
    for step, score in enumerate([3.0, 1.0, None, 2.0, 5.0]):
        folder.save(step, tree(step), {}, score=score)
    assert folder.steps() == [1, 3, 4]
    folder.save(5, tree(5), {}, score=0.5)
    assert folder.steps() == [4, 5]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000000004", "step-000000005"]


def test_a_step_can_be_written_again(folder):
    folder.save(20, tree(21), {"rows": []})
    np.testing.assert_array_equal(folder.restore(tree(0)).tree["w"], 21)


def test_every_truncated_altered_or_missing_file_is_named_and_older_ones_stay_usable(folder):
    files = files_of(folder, 20)
    assert len(files) > 3
    for path in files:
        content = path.read_bytes()
        for damage in (content[:-1], bytes([content[0] ^ 255]) + content[1:], None):
            path.unlink() if damage is None else path.write_bytes(damage)
            with pytest.raises(
                ValueError, match="damaged: delete the folder step-000000020 to go on from step 10"
            ) as e:
                folder.restore(tree(0))
            assert path.name in str(e.value)
            path.write_bytes(content)
    np.testing.assert_array_equal(folder.restore(tree(0), step=10).tree["w"], 10)
    assert folder.restore(tree(0)).step == 20


def test_a_damaged_manifest_is_named_and_does_not_stop_saving(folder):
    manifest = folder.folder_of(20) / "manifest.json"
    manifest.write_text(manifest.read_text()[:50])
    with pytest.raises(ValueError, match=r"manifest\.json is damaged or foreign: delete the folder step-000000020"):
        folder.restore(tree(0))
    manifest.write_text(json.dumps({"format": "other"}))
    with pytest.raises(ValueError, match=r"not written by `plait\.fit`, or by another version"):
        folder.restore(tree(0))
    folder.save(30, tree(30), {})
    assert folder.restore(tree(0)).step == 30


def test_a_step_without_manifest_is_not_there_and_is_cleared_away(folder):
    (folder.folder_of(20) / "manifest.json").unlink()
    assert folder.steps() == [10]
    (folder.path / "step-000000015").mkdir()
    (folder.path / "step-000000015" / "mine.txt").touch()
    (folder.path / "notes.txt").touch()
    folder.save(30, tree(30), {})
    left = ["notes.txt", "step-000000010", "step-000000015", "step-000000030"]
    assert sorted(path.name for path in folder.path.iterdir()) == left


def test_another_tree_is_refused(folder):
    with pytest.raises(ValueError, match=r"of another model or optimizer.*\n  w: saved float32\[4,3\], wanted float32"):
        folder.restore(tree(0) | {"w": jnp.zeros((4, 2))})
    with pytest.raises(ValueError, match=r"more: saved none, wanted int32\[\]"):
        folder.restore(tree(0) | {"more": jnp.asarray(1)})
    with pytest.raises(ValueError, match=r"key: saved threefry2x32, wanted none"):
        folder.restore(tree(0) | {"key": jnp.zeros(2, jnp.uint32)})


def test_nothing_to_restore_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"has no checkpoints of `plait\.fit`"):
        CheckpointFolder(tmp_path / "empty").restore(tree(0))


@pytest.mark.parametrize("keep", [0, True])
def test_at_least_one_is_kept(tmp_path, keep):
    with pytest.raises(ValueError, match="`keep` is a number of checkpoints"):
        CheckpointFolder(tmp_path, keep=keep)


def test_a_folder_that_cannot_be_written_says_so_at_once(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"no checkpoints can be written to .*file/run \(Not a directory\); choose anoth"):
        CheckpointFolder(tmp_path / "file" / "run").prepare(tree(0))


def test_a_read_only_folder_says_so_at_once(tmp_path, monkeypatch):
    def forbidden(path, mode="r", **options):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", forbidden)
    with pytest.raises(PermissionError, match=r"no checkpoints can be written to .* \(Permission denied\)"):
        CheckpointFolder(tmp_path).prepare(tree(0))


def test_a_full_disk_says_so_at_once(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(1000, 900, 100))
    with pytest.raises(OSError, match=r"need about 0\.0 MB \(the last 3, the best.*0\.0 MB are free; free some, keep"):
        CheckpointFolder(tmp_path).prepare(tree(0))
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
import jax.numpy as jnp
from plait.checkpoint import CheckpointFolder

where, event, name = sys.argv[1:]
folder = CheckpointFolder(where, keep=1)
folder.save(1, {"w": jnp.ones(3)}, {})

def look(seen, arguments):
    if seen == event and name in str(arguments[0]):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(look)
folder.save(2, {"w": 2 * jnp.ones(3)}, {})
"""


@pytest.mark.parametrize(
    ("event", "name", "left"),
    [
        ("open", "arrays.orbax-checkpoint-tmp/_METADATA", 1),
        ("os.rename", "arrays.orbax-checkpoint-tmp", 1),
        ("os.rename", "manifest.json", 1),
        ("shutil.rmtree", "step-000000001", 2),
    ],
)
def test_a_kill_in_the_middle_leaves_a_usable_checkpoint(tmp_path, event, name, left):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), event, name], capture_output=True)
    assert done.returncode == -9, done.stderr.decode()[-2000:]
    folder = CheckpointFolder(tmp_path, keep=1)
    assert (folder.steps(), len(list(tmp_path.iterdir()))) == ([left], 2)
    np.testing.assert_array_equal(folder.restore({"w": jnp.zeros(3)}).tree["w"], left)
    # What the killed process left behind is in nobody's way.
    folder.save(2, {"w": 3 * jnp.ones(3)}, {})
    np.testing.assert_array_equal(folder.restore({"w": jnp.zeros(3)}).tree["w"], 3)
    assert [path.name for path in tmp_path.iterdir()] == ["step-000000002"]
