"""The published folder: severities are parts of one file."""

import numpy as np
import pytest

from plait.data.corruption import PublishedCorruptions


@pytest.fixture
def folder(tmp_path):
    pictures = np.arange(10, dtype=np.uint8).reshape(10, 1, 1, 1) * np.ones((1, 2, 2, 3), np.uint8)
    np.save(tmp_path / "fog.npy", pictures)
    np.save(tmp_path / "labels.npy", np.tile(np.array([3, 7], np.uint8), 5))
    return tmp_path


def test_a_severity_is_a_fifth_of_the_file(folder):
    published = PublishedCorruptions(folder)
    assert published.kinds == ("fog",)
    pair = published.pair("fog", 2)
    np.testing.assert_allclose(pair.x[:, 0, 0, 0], np.array([2, 3]) / 255, rtol=1e-6)
    assert pair.y.tolist() == [3, 7]


def test_what_is_not_there_is_said(folder, tmp_path):
    published = PublishedCorruptions(folder)
    with pytest.raises(ValueError, match=r"has no snow.npy; it has fog"):
        published.pair("snow", 1)
    with pytest.raises(ValueError, match="`severity` must be 1 to 5, got 0"):
        published.pair("fog", 0)
    np.save(folder / "snow.npy", np.zeros((9, 2, 2, 3), np.uint8))
    with pytest.raises(ValueError, match=r"has 9 pictures and labels.npy 10 labels"):
        PublishedCorruptions(folder).pair("snow", 1)
    with pytest.raises(FileNotFoundError, match=r"holds no labels.npy: give the folder that CIFAR-10-C.tar unpacks to"):
        PublishedCorruptions(tmp_path / "nowhere")
