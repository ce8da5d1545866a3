"""Sets with a name, where they are found, and what is refused."""

import gzip
import struct

import numpy as np
import pytest

from plait.data import load, names
from plait.data.registry import ENTRIES


def write_idx(folder, images):
    folder.mkdir(parents=True)
    files = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
    for name, array in zip(files, images.values(), strict=True):
        header = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
        (folder / f"{name}.gz").write_bytes(gzip.compress(header + array.tobytes()))


def test_digits_need_no_download():
    data = load("digits")
    assert str(data) == "digits: classification, 1,257 train, 180 validation, 360 test, inputs 8 x 8, 10 classes"
    assert (data.train.x.min(), data.train.x.max()) == (0, 1)
    assert data.train.x.dtype == np.float32
    assert data.class_names[3] == "3"
    np.testing.assert_array_equal(load("digits").test.y, data.test.y)
    assert not np.array_equal(load("digits", split=1).test.y, data.test.y)
    assert load("digits", flatten=True, validation=0).validation is None


def test_diabetes_needs_no_download():
    data = load("diabetes", standardize=True)
    assert str(data) == "diabetes: regression, 310 train, 44 validation, 88 test, inputs 10"
    assert data.feature_names[2] == "bmi"
    np.testing.assert_allclose(data.train.x.std(axis=0), 1, rtol=1e-4)
    np.testing.assert_allclose(data.train.y.mean(), 0, atol=1e-5)


@pytest.mark.parametrize("pixels", ["unit", "symmetric", "raw"])
def test_pixels(nowhere, images, pixels):
    write_idx(nowhere / "mnist", images)
    x = load("mnist", pixels=pixels, validation=0).train.x
    raw = images["x_train"]
    expected = {"unit": raw / 255, "symmetric": raw / 127.5 - 1, "raw": raw}[pixels]
    np.testing.assert_allclose(x, expected, atol=1e-6)
    assert x.dtype == (np.uint8 if pixels == "raw" else np.float32)


def test_the_last_training_images_are_for_validation(nowhere, images):
    write_idx(nowhere / "fashion_mnist", images)
    data = load("fashion-mnist", validation=3, pixels="raw")
    np.testing.assert_array_equal(data.validation.x, images["x_train"][-3:])
    np.testing.assert_array_equal(data.train.y, images["y_train"][:-3])
    assert data.class_names[9] == "ankle boot"


def test_explicit_folder_wins_over_variable_over_cache(nowhere, tmp_path, images, monkeypatch):
    for level, place in enumerate((nowhere, tmp_path / "variable", tmp_path / "argument")):
        write_idx(place / "mnist", images | {"y_test": np.full(5, level, np.uint8)})
        if place.name == "variable":
            monkeypatch.setenv("PLAIT_DATA", str(place))
        data = load("mnist", place if place.name == "argument" else None, validation=0)
        assert data.test.y[0] == level


def test_shared_data_beside_the_current_folder_is_found(tmp_path, images):
    write_idx(tmp_path / "empty" / "shared" / "data" / "mnist", images)
    assert len(load("mnist", validation=0).test.x) == 5


def test_binary_targets_and_tokens(nowhere):
    tokens, offsets = np.arange(4, 16).astype(np.uint16), np.arange(0, 13, 3).astype(np.int32)
    y = np.asarray([0, 1, 1, 0], np.uint8)
    (nowhere / "imdb").mkdir(parents=True)
    part = {"train_tokens": tokens, "train_offsets": offsets, "y_train": y}
    np.savez(nowhere / "imdb" / "imdb.npz", **part, test_tokens=tokens, test_offsets=offsets, y_test=y)
    data = load("imdb", validation=1, maxlen=5, num_words=10)
    assert (data.task, data.input_shape, data.vocabulary_size) == ("binary", (5,), 10)
    assert data.train.x.dtype == np.int32
    assert data.train.y.shape == (3, 1)
    with pytest.raises(ValueError, match="word ids"):
        data.standardized()


def test_a_density_has_a_validation_part_of_its_own(nowhere):
    rows = {part: np.packbits(np.eye(4, 784, dtype=np.uint8), axis=1) for part in ("train", "valid", "test")}
    (nowhere / "mnist").mkdir(parents=True)
    np.savez(nowhere / "mnist" / "binarized_mnist.npz", **rows)
    data = load("binarized_mnist", flatten=True)
    assert data.input_shape == (784,)
    assert data.train.x is data.train.y
    assert data.validation.x.dtype == np.float32
    with pytest.raises(ValueError, match="validation part of its own"):
        load("binarized_mnist", validation=2)


def test_unknown_names_get_a_suggestion():
    with pytest.raises(ValueError, match=r"unknown data set 'minst' \(did you mean 'mnist'\?\): known are digits, dia"):
        load("minst")
    with pytest.raises(ValueError, match=r"'qqqq': known are"):
        load("qqqq")


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("digits", {"split": -1}, "counts from 0"),
        ("boston", {"split": 20}, r"splits 0\.\.19, got split=20"),
        ("mnist", {"split": 1}, "one split, number 0"),
        ("diabetes", {"pixels": "raw"}, "for pictures"),
        ("digits", {"pixels": "loud"}, "'unit', 'symmetric' or 'raw'"),
        ("digits", {"maxlen": 3}, "`maxlen`: an option for IMDB, not for digits"),
        ("digits", {"target": "y", "test": 3}, "`target`, `test`: an option for files of your own"),
        ("digits", {"validation": 2000}, "leaves nothing"),
    ],
)
def test_options_that_make_no_sense_are_refused(name, options, says):
    with pytest.raises(ValueError, match=says):
        load(name, **options)


def test_a_folder_that_does_not_exist_is_an_error(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"data_dir names the folder .*nope"):
        load("mnist", tmp_path / "nope")
    monkeypatch.setenv("PLAIT_DATA", str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError, match=r"PLAIT_DATA names the folder .*gone"):
        load("mnist")


def test_a_damaged_file_is_named(nowhere, images):
    write_idx(nowhere / "mnist", images)
    (nowhere / "mnist" / "t10k-labels-idx1-ubyte.gz").write_bytes(b"\x1f\x8b and no more")
    with pytest.raises(ValueError, match=r"mnist cannot be read from .*train-images.*if damaged, delete it"):
        load("mnist")


def test_labels_out_of_range_are_refused(nowhere, images):
    write_idx(nowhere / "mnist", images | {"y_test": np.full(5, 10, np.uint8)})
    with pytest.raises(ValueError, match=r"mnist \(test\): y must be labels in 0\.\.9"):
        load("mnist", validation=0)


def test_a_file_that_may_not_be_read_is_said_so(nowhere, images, monkeypatch):
    write_idx(nowhere / "mnist", images)

    def forbidden(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.read_bytes", forbidden)
    with pytest.raises(PermissionError, match="denied"):
        load("mnist")


def test_the_registry_is_sound():
    assert len(names()) == 17
    for name, entry in ENTRIES.items():
        assert entry.name == name
        assert entry.num_classes == (len(entry.class_names) if entry.task == "classification" else None)
        for form in entry.forms:
            assert not form.remotes or len(form.remotes) == len(form.files)
            for remote in form.remotes:
                kind, digest = remote.checksum.split(":")
                assert len(bytes.fromhex(digest)) == {"sha256": 32, "md5": 16}[kind]
                assert remote.url.startswith("https://")
        assert (entry.download is None) == (name in ("digits", "diabetes"))
