"""Classifiers on digits, as small as can be."""

import dataclasses

import jax
import numpy as np
import pytest

from plait.recipes.nng import by_epoch, classification, vgg16
from plait.recipes.nng.by_epoch import CLASSIFIERS, train_by_epoch
from plait.recipes.nng.classification import CIFAR, MNIST, SMALL, VGG16, run_settings
from plait.recipes.nng.vgg import HALF, VGG

METHODS = ("Adam, no distribution", "Adam, mean field")
TINY = dataclasses.replace(SMALL, batch_size=512, num_samples=1)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    output = tmp_path_factory.mktemp("classifiers")
    return output, run_settings("nng-classification", (TINY,), output, data_dir=None, seed=0, methods=METHODS)


def test_the_table_has_a_row_for_each_method(done):
    output, table = done
    assert [row[1] for row in table.rows] == list(METHODS)
    assert table.rows[0][-1] == "1.00"
    page = (output / "nng-classification.md").read_text()
    assert "2 epochs, batches of 512, prior std 0.3, KL weight 0.1" in page
    for name in ("digits-epoch.png", "digits-seconds.png"):
        assert (output / "nng-classification" / name).stat().st_size
    assert not list(output.rglob("checkpoints"))


def test_what_is_done_is_not_done_again(done, monkeypatch):
    output, table = done
    monkeypatch.setattr(by_epoch, "fit", None)
    again = run_settings("nng-classification", (TINY,), output, data_dir=None, seed=0, methods=METHODS)
    assert again.rows == table.rows
    other = dataclasses.replace(TINY, epochs=3)
    with pytest.raises(ValueError, match=r"other settings: choose another .*\n  epochs"):
        run_settings("nng-classification", (other,), output, data_dir=None, seed=0, methods=METHODS)


def test_a_run_that_was_stopped_goes_on(done, tmp_path, monkeypatch):
    dataset, folder = classification.load("digits"), tmp_path / "run"
    whole = train_by_epoch(TINY, METHODS[0], dataset, done[0] / "digits" / "Adam-no-distribution", seed=0)

    def stop(path):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(by_epoch.shutil, "rmtree", stop)
        with pytest.raises(OSError, match="no space left"):
            train_by_epoch(TINY, METHODS[0], dataset, folder, seed=0)
    assert (folder / "checkpoints").is_dir()
    again = train_by_epoch(TINY, METHODS[0], dataset, folder, seed=0)
    np.testing.assert_allclose(again.metrics["nll"], whole.metrics["nll"], rtol=1e-6)
    assert again.epoch.tolist() == [1, 2]
    assert np.all(np.diff(again.seconds) > 0)


def test_ctrl_c_ends_the_study(tmp_path, monkeypatch):
    monkeypatch.setattr(by_epoch, "fit", lambda *given, **more: type("Fit", (), {"interrupted": True}))
    with pytest.raises(KeyboardInterrupt):
        train_by_epoch(TINY, METHODS[0], classification.load("digits"), tmp_path, seed=0)


@pytest.mark.parametrize("method", CLASSIFIERS)
def test_every_method_has_an_optimizer(method):
    assert hasattr(MNIST.optimizer(method, 10), "init")


def test_half_vgg16_is_that_of_the_papers_code():
    network = VGG((32, 32, 3), 10, HALF, key=jax.random.key(0))
    widths = [convolution.out_channels for block in network.blocks for convolution in block]
    assert widths == [32] * 2 + [64] * 2 + [128] * 3 + [256] * 6
    assert network.head.in_features == 256
    shape = jax.eval_shape(network, jax.ShapeDtypeStruct((32, 32, 3), np.float32)).shape
    assert shape == (10,)
    assert (VGG16.epochs, VGG16.batch_size, VGG16.inverse_every, VGG16.kl_weight) == (150, 128, 200, 0.5)
    # eta is a variance.
    assert VGG16.prior_scale**2 == pytest.approx(0.1) == pytest.approx(CIFAR.prior_scale**2)


def test_studies_say_what_they_run(monkeypatch, tmp_path):
    asked = []
    for module in (classification, vgg16):
        monkeypatch.setattr(
            module, "run_settings", lambda name, settings, *given, **more: asked.append((name, settings))
        )
        module.reproduce(tmp_path)
        module.reproduce(tmp_path, quick=True)
    assert [(name, [each.title for each in settings]) for name, settings in asked] == [
        ("nng-classification", [MNIST.title, CIFAR.title]),
        ("nng-classification", [SMALL.title]),
        ("nng-vgg16", [VGG16.title]),
        ("nng-vgg16", ["A small VGG on digits"]),
    ]
    tiny = asked[-1][1][0].network(classification.load("digits"), jax.random.key(0))
    assert tiny(np.zeros((8, 8), np.float32)).shape == (10,)
