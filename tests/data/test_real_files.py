"""The real files, where this machine has them: the README of the shared data says what they must contain."""

import pathlib

import numpy as np
import pooch
import pytest

from plait.data import load

SHARED = pathlib.Path(__file__).parents[3] / "shared" / "data"
CACHE = pathlib.Path(pooch.os_cache("plait"))
MEANS = {
    "boston": 22.53281,
    "concrete": 35.81796,
    "energy": 22.30720,
    "kin8nm": 0.71428,
    "naval": 0.97500,
    "power": 454.36501,
    "protein": 7.74853,
    "wine": 5.63602,
    "yacht": 10.49536,
}


def needs(path):
    if not path.exists():
        pytest.skip(f"{path} is not on this machine")


@pytest.mark.parametrize("name", MEANS)
def test_uci(name):
    needs(SHARED / "uci" / f"{name}.npz")
    data = load(name, SHARED, split=4, standardize=True)
    y = np.concatenate([data.standardizer.original_mean(pair.y) for pair in data.parts().values()])
    np.testing.assert_allclose(y.mean(), MEANS[name], atol=2e-5)
    assert np.abs(data.train.x).max() < 100


def test_mnist():
    needs(SHARED / "mnist")
    data = load("mnist", SHARED, pixels="raw")
    labels = np.r_[data.train.y, data.validation.y]
    assert np.bincount(labels).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert (len(data.validation.x), len(data.test.x)) == (10_000, 10_000)


def test_binarized_mnist():
    needs(SHARED / "mnist" / "binarized_mnist.npz")
    data = load("binarized_mnist", SHARED)
    means = [pair.x.mean(dtype=np.float64) for pair in data.parts().values()]
    np.testing.assert_allclose(means, [0.130562, 0.131127, 0.132512], atol=1e-6)


def test_imdb():
    needs(SHARED / "imdb")
    data = load("imdb", SHARED)
    assert [pair.x.shape for pair in data.parts().values()] == [(20_000, 80), (5_000, 80), (25_000, 80)]
    assert data.test.y.mean() == 0.5
    assert data.train.x.max() < 20_000


@pytest.mark.parametrize(
    ("name", "means"), [("cifar10", [0.4914, 0.4822, 0.4465]), ("cifar100", [0.507, 0.4866, 0.44])]
)
def test_cifar_as_unpacked_by_the_script(name, means):
    needs(CACHE / f"{name}.npz")
    data = load(name, CACHE, pixels="raw", validation=0)
    np.testing.assert_allclose(data.train.x[::5].mean(axis=(0, 1, 2)) / 255, means, atol=0.01)
    assert np.ptp(np.bincount(data.test.y)) == 0
