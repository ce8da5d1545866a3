import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from plait.cli.main import main


@pytest.fixture(scope="module")
def mean_field(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "digits"
    options = ("--widths", "8", "--epochs", "1", "--batch-size", "256", "--samples", "2", "--quiet")
    assert main(["train", "--posterior", "mean-field", *options, "--output", str(path)]) == 0
    return path


@pytest.fixture
def tensors(tmp_path):
    rng = np.random.default_rng(0)
    pair = {f"fc.{name}_weight": rng.normal(size=(10, 12)).astype(np.float32) for name in ("mu", "rho")}
    save_file(pair, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


FILE = ("--mean", "(.*)mu_weight", "--scale", "(.*)rho_weight")


def test_a_run_is_compressed_into_a_run(mean_field, tmp_path, capsys):
    target = tmp_path / "tied"
    assert main(["compress", str(mean_field), "--rank", "2", "--samples", "2", "--output", str(target)]) == 0
    shown = capsys.readouterr().out
    for text in ("layers.0.weight", "-ELBO per example", "before", "bytes trained", "KL(tied || mean field)", "tied"):
        assert text in shown
    for command in ("evaluate", "inspect"):
        options = ["--samples", "2"] if command == "evaluate" else ["--spectrum"]
        assert main([command, str(target), *options]) == 0
    assert "Tied(2)" in capsys.readouterr().out
    assert main(["compress", str(mean_field), "--rank", "2", "--output", str(target)]) == 2
    assert "exists already: choose another --output" in capsys.readouterr().err
    assert main(["train", "--resume", str(target)]) == 2
    assert "was made by `plait compress`" in capsys.readouterr().err


def test_a_file_is_compressed_and_restored(tensors, tmp_path, capsys):
    packed, back = tmp_path / "packed.safetensors", tmp_path / "back.safetensors"
    assert main(["compress", str(tensors), *FILE, "--rank", "1", "--output", str(packed)]) == 0
    assert "fc.rho_weight" in capsys.readouterr().out
    assert main(["compress", str(packed), "--restore", "--output", str(back)]) == 0
    assert load_file(back).keys() == load_file(tensors).keys()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "a file needs --mean and --scale"),
        ((*FILE,), "exactly one of --rank and --budget"),
        ((*FILE, "--rank", "0"), "--rank must be a positive integer"),
        (("--mean", "(", "--scale", "x", "--rank", "1"), "--mean is not a regular expression"),
        ((*FILE, "--transform", "identity", "--rank", "1"), "choose the transform"),
        ((*FILE, "--max-rise", "0.1"), "--max-rise is an option for runs"),
        (("--restore", "--rank", "1"), "--rank is an option for compressing"),
        (("--restore",), "was not written by `compress_file`"),
    ],
)
def test_what_is_wrong_with_a_file_is_a_message(tensors, capsys, options, message):
    assert main(["compress", str(tensors), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert [path.name for path in tensors.parent.iterdir()] == ["model.safetensors"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "exactly one of --rank, --budget and --max-rise"),
        (("--rank", "-1"), "--rank must be a positive integer"),
        (("--budget", "-1"), "--budget bounds a loss"),
        (("--mean", "x", "--rank", "1"), "--mean is an option for files"),
        (("--restore",), "--restore is an option for files"),
    ],
)
def test_what_is_wrong_with_a_run_is_a_message(mean_field, capsys, options, message):
    assert main(["compress", str(mean_field), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_what_cannot_be_compressed_is_a_message(trained, tmp_path, capsys):
    for path, message in (
        (trained, "no weight matrix of this model is under MeanField"),
        (tmp_path, "is not the folder of a run"),
        (tmp_path / "none", "does not exist"),
        (tmp_path / "none.safetensors", "No such file"),
    ):
        more = FILE if path.suffix else ()
        assert main(["compress", str(path), *more, "--rank", "1"]) == 2
        assert message in capsys.readouterr().err
