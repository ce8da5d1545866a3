"""Readers of public formats, on tiny files made here byte by byte."""

import gzip
import io
import pickle
import struct
import tarfile

import numpy as np
import pytest
import scipy.io

from plait.data.formats import arrays, binarized_mnist, cifar, idx, imdb, uci
from plait.data.parts import Reading

READING = Reading()


def idx_bytes(array):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


@pytest.mark.parametrize("zipped", [False, True])
def test_idx(tmp_path, images, zipped):
    paths = []
    for name, array in images.items():
        raw = idx_bytes(array)
        paths.append(tmp_path / name)
        paths[-1].write_bytes(gzip.compress(raw) if zipped else raw)
    parts = idx.read(paths, READING)
    np.testing.assert_array_equal(parts.train.x, images["x_train"])
    np.testing.assert_array_equal(parts.test.y, images["y_test"])


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"\0\0", "not an idx file"),
        (b"PK\3\4____", "not an idx file"),
        (b"\0\0\x0d\1\0\0\0\0", "not an idx file"),
        (idx_bytes(np.zeros((2, 3), np.uint8))[:-1], "needs 6 bytes, this one has 5"),
    ],
)
def test_damaged_idx_is_refused(tmp_path, raw, says):
    (tmp_path / "x").write_bytes(raw)
    with pytest.raises(ValueError, match=says):
        idx.read_idx(tmp_path / "x")


def test_plain_npz(tmp_path, images):
    np.savez(tmp_path / "a.npz", **(images | {"y_train": images["y_train"][:, None]}))
    parts = arrays.read([tmp_path / "a.npz"], READING)
    np.testing.assert_array_equal(parts.train.x, images["x_train"])
    np.testing.assert_array_equal(parts.train.y, images["y_train"])


@pytest.fixture
def pictures(seed):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (6, 32, 32, 3)).astype(np.uint8), rng.integers(0, 10, 6).astype(np.uint8)


def cifar_batches(layout, pictures, kind):
    """The content of each file: as many examples as there are files."""
    x, y = pictures
    names = layout.binary_files if kind == "binary" else layout.python_files
    rows = x.transpose(0, 3, 1, 2).reshape(len(x), -1)
    for i, name in enumerate(names):
        if kind == "binary":
            labels = [7, y[i]] if layout.label_bytes == 2 else [y[i]]
            yield name, bytes(labels) + rows[i].tobytes()
        else:
            yield name, pickle.dumps({b"data": rows[i : i + 1], layout.label_key: [int(y[i])]}, protocol=2)


@pytest.mark.parametrize("layout", [cifar.CIFAR10, cifar.CIFAR100])
@pytest.mark.parametrize("kind", ["binary", "python"])
@pytest.mark.parametrize("packed", [False, True])
def test_cifar(tmp_path, pictures, layout, kind, packed):
    files = dict(cifar_batches(layout, pictures, kind))
    if packed:
        paths = [tmp_path / "cifar.tar.gz"]
        with tarfile.open(paths[0], "w:gz") as archive:
            # Not in the order in which they are read.
            for name, content in sorted(files.items(), reverse=True):
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    else:
        paths = [tmp_path / name for name in files]
        paths[0].parent.mkdir()
        for path, content in zip(paths, files.values(), strict=True):
            path.write_bytes(content)
    reader = cifar.binary_reader(layout) if kind == "binary" else cifar.python_reader(layout)
    parts = reader(paths, READING)
    x, y = pictures
    count = len(files)
    np.testing.assert_array_equal(parts.train.x, x[: count - 1])
    np.testing.assert_array_equal(parts.train.y, y[: count - 1])
    np.testing.assert_array_equal(parts.test.x, x[count - 1 : count])
    np.testing.assert_array_equal(parts.test.y, y[count - 1 : count])


def test_damaged_cifar_is_refused(tmp_path):
    (tmp_path / "short").write_bytes(b"\0" * 3072)
    with pytest.raises(ValueError, match="records of 3073 bytes"):
        cifar.binary_reader(cifar.CIFAR10)([tmp_path / "short"] * 2, READING)
    (tmp_path / "other").write_bytes(pickle.dumps({b"data": 1}))
    with pytest.raises(ValueError, match="'labels'"):
        cifar.python_reader(cifar.CIFAR10)([tmp_path / "other"] * 2, READING)
    with tarfile.open(tmp_path / "empty.tar.gz", "w:gz"):
        pass
    with pytest.raises(ValueError, match=r"lacks cifar-100-binary/train.bin"):
        cifar.binary_reader(cifar.CIFAR100)([tmp_path / "empty.tar.gz"], READING)


def keras_pad(reviews, maxlen, num_words):
    """pad_sequences and the vocabulary limit of Keras, one review at a time."""
    rows = np.zeros((len(reviews), maxlen), np.int32)
    for row, review in zip(rows, reviews, strict=True):
        kept = [word if word < num_words else 2 for word in review][-maxlen:]
        row[maxlen - len(kept) :] = kept
    return rows


@pytest.mark.parametrize(("maxlen", "num_words"), [(4, 20), (6, 9), (1, 20)])
def test_imdb_tokens(tmp_path, maxlen, num_words):
    reviews = [[1, 5, 12, 7, 19, 8], [1, 4], [1, 9, 10, 11]]
    tokens = np.concatenate(reviews).astype(np.uint16)
    offsets = np.asarray([0, 6, 8, 12], np.int32)
    y = np.asarray([0, 1, 1], np.uint8)
    part = {"train_tokens": tokens, "train_offsets": offsets, "y_train": y}
    np.savez(tmp_path / "a.npz", **part, test_tokens=tokens, test_offsets=offsets, y_test=y)
    parts = imdb.read_tokens([tmp_path / "a.npz"], Reading(maxlen=maxlen, num_words=num_words))
    np.testing.assert_array_equal(parts.train.x, keras_pad(reviews, maxlen, num_words))
    np.testing.assert_array_equal(parts.test.y, y)
    assert parts.train.x.dtype == np.int32


def test_imdb_of_keras(tmp_path):
    ranks = np.empty(5, object)
    ranks[:] = [[1, 2, 3], [4], [5, 6], [20, 30], [7]]
    y = np.arange(5) % 2
    np.savez(tmp_path / "a.npz", x_train=ranks, y_train=y, x_test=ranks[:3], y_test=y[:3])
    parts = imdb.read_keras([tmp_path / "a.npz"], Reading(maxlen=3, num_words=20))
    # As keras.datasets.imdb.load_data: one generator shuffles train, then test; 1 starts a review, words begin at 4.
    rng = np.random.RandomState(113)
    for pair, size in ((parts.train, 5), (parts.test, 3)):
        order = np.arange(size)
        rng.shuffle(order)
        expected = keras_pad([[1, *(rank + 3 for rank in ranks[i])] for i in order], 3, 20)
        np.testing.assert_array_equal(pair.x, expected)
        np.testing.assert_array_equal(pair.y, y[order])


@pytest.mark.parametrize("reading", [Reading(maxlen=0), Reading(num_words=3)])
def test_impossible_reviews_are_refused(reading):
    with pytest.raises(ValueError, match="maxlen"):
        imdb.pad_reviews(np.arange(3), np.asarray([0, 3]), reading)


def test_uci_npz_and_table_agree(tmp_path, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(25, 3)), rng.normal(size=25)
    # The splits of the script that made the public ones: one stream of permutations from seed 1.
    generator = np.random.RandomState(1)
    orders = [generator.choice(range(25), 25, replace=False) for _ in range(3)]
    cut = round(25 * 0.9)
    train, test = np.stack([o[:cut] for o in orders]), np.stack([o[cut:] for o in orders])
    np.savez(tmp_path / "a.npz", x=x, y=y, train_index=train, test_index=test)
    np.savetxt(tmp_path / "a.txt", np.c_[x, y, np.ones(25)], fmt="%.18g")
    for split in range(3):
        first = uci.read_npz([tmp_path / "a.npz"], Reading(split=split))
        second = uci.table_reader(3)([tmp_path / "a.txt"], Reading(split=split))
        np.testing.assert_array_equal(first.train.x, x[train[split]])
        np.testing.assert_array_equal(first.test.y, y[test[split]])
        for one, other in ((first.train, second.train), (first.test, second.test)):
            np.testing.assert_array_equal(one.x, other.x)
            np.testing.assert_array_equal(one.y, other.y)
    with pytest.raises(ValueError, match="3 splits, asked for number 3"):
        uci.read_npz([tmp_path / "a.npz"], Reading(split=3))
    with pytest.raises(ValueError, match="5 columns"):
        uci.table_reader(5)([tmp_path / "a.txt"], Reading())


@pytest.mark.parametrize("kind", ["packed", "text", "matlab"])
def test_binarized_mnist(tmp_path, seed, kind):
    rng = np.random.default_rng(seed)
    rows = {part: rng.integers(0, 2, (size, 784)).astype(np.uint8) for part, size in (("train", 4), ("valid", 2))}
    rows["test"] = rows["valid"][::-1].copy()
    if kind == "packed":
        np.savez(tmp_path / "b.npz", **{part: np.packbits(value, axis=1) for part, value in rows.items()})
        parts = binarized_mnist.read_packed([tmp_path / "b.npz"], READING)
    else:
        paths = [tmp_path / name for name in binarized_mnist.FILES]
        for path, value in zip(paths, rows.values(), strict=True):
            if kind == "text":
                np.savetxt(path, value, fmt="%d")
            else:
                scipy.io.savemat(path, {"X": value}, appendmat=False)
        parts = binarized_mnist.read_amat(paths, READING)
    for pair, name in ((parts.train, "train"), (parts.validation, "valid"), (parts.test, "test")):
        np.testing.assert_array_equal(pair.x.reshape(-1, 784), rows[name])
        assert pair.x is pair.y


def test_foreign_binarized_files_are_refused(tmp_path):
    np.savetxt(tmp_path / "a", np.full((2, 784), 2), fmt="%d")
    with pytest.raises(ValueError, match="zeros and ones"):
        binarized_mnist.read_amat([tmp_path / "a"] * 3, READING)
    scipy.io.savemat(tmp_path / "b", {"X": np.zeros(3), "Y": np.zeros(3)}, appendmat=False)
    with pytest.raises(ValueError, match="one array, the file has 2"):
        binarized_mnist.read_amat([tmp_path / "b"] * 3, READING)
