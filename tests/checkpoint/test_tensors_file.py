"""Files of the safetensors format: what is written is what any reader reads, bytes are kept."""

import json

import jax.numpy as jnp
import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from plait.checkpoint.tensors_file import DTYPES, Tensor, read_tensors, write_tensors


def test_other_readers_see_the_same(tmp_path):
    arrays = {
        "bytes": np.arange(3, dtype=np.uint8),
        "scalar": np.asarray(0.5),
        "matrix": np.arange(6.0, dtype=np.float32).reshape(2, 3).T,
        "half": np.ones((2, 1), np.float16),
        "none": np.zeros((0, 3), np.float32),
    }
    write_tensors(tmp_path / "a", {"who": "us"}, {name: Tensor.of(array) for name, array in arrays.items()})
    for name, array in load_file(tmp_path / "a").items():
        assert array.dtype == arrays[name].dtype
        np.testing.assert_array_equal(array, arrays[name])
    with safe_open(tmp_path / "a", framework="numpy") as file:
        assert file.metadata() == {"who": "us"}


def test_numbers_lie_on_multiples_of_their_size(tmp_path):
    arrays = {"a": np.ones(3, np.uint8), "b": np.ones(1, np.float64), "c": np.ones(3, np.float16)}
    write_tensors(tmp_path / "a", {}, {name: Tensor.of(array) for name, array in arrays.items()})
    content = (tmp_path / "a").read_bytes()
    length = int.from_bytes(content[:8], "little")
    assert length % 8 == 0
    for name, entry in json.loads(content[8 : 8 + length]).items():
        assert entry["data_offsets"][0] % arrays[name].itemsize == 0


def test_what_others_wrote_is_read(tmp_path):
    save_file({"a": np.arange(4.0)}, tmp_path / "theirs", metadata={"format": "pt"})
    header, tensors = read_tensors(tmp_path / "theirs")
    assert header == {"format": "pt"}
    np.testing.assert_array_equal(tensors["a"].array(), np.arange(4.0))


def test_tensors_of_unknown_dtypes_keep_their_bytes(tmp_path):
    odd = Tensor("F8_E4M3", (4,), b"\x01\x02\x03\x04")
    write_tensors(tmp_path / "a", {}, {"odd": odd, "even": Tensor.of(np.ones(2, np.float32))})
    assert read_tensors(tmp_path / "a")[1]["odd"] == odd


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_comes_back(tmp_path, name: str):
    array = np.asarray(jnp.arange(3)).astype(DTYPES[name])
    write_tensors(tmp_path / "a", {}, {"x": Tensor.of(array)})
    tensor = read_tensors(tmp_path / "a")[1]["x"]
    assert tensor.dtype == name
    np.testing.assert_array_equal(tensor.array(), array)


def test_what_is_no_such_file_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is a folder; give the name of a file"):
        read_tensors(tmp_path)
    (tmp_path / "a").write_bytes(b"not one")
    with pytest.raises(ValueError, match="is not a whole safetensors file"):
        read_tensors(tmp_path / "a")
