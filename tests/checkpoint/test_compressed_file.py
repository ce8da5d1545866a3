"""Checkpoints of other libraries, by the names and layouts that these write: compressed and restored."""

from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from plait.checkpoint import compress_file, decompress_file
from plait.checkpoint.tensors_file import Tensor, read_tensors, write_tensors

RNG = np.random.default_rng(0)


def log_std(fan_in: int, fan_out: int, rank: int = 2) -> np.ndarray:
    """Logarithms of a matrix of a rank, of trained size."""
    rows, columns = np.exp(0.5 * RNG.normal(size=(rank, fan_in))), np.exp(0.5 * RNG.normal(size=(rank, fan_out)))
    return np.log(0.02 * rows.T @ columns)


def softplus_inverse(log_std: np.ndarray) -> np.ndarray:
    return np.log(np.expm1(np.exp(log_std)))


def as_float(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, np.float32)


def bayesian_torch() -> dict[str, np.ndarray]:
    """`Conv2dReparameterization`, `LinearReparameterization`: outputs first, rho under a softplus, buffers beside."""
    conv, dense = (as_float(softplus_inverse(log_std(*size).T)) for size in ((2 * 9, 16), (16, 10)))
    shapes = {"conv1.mu_kernel": (16, 2, 3, 3), "fc1.mu_weight": (10, 16)}
    return {
        **{name: as_float(RNG.normal(size=shape)) for name, shape in shapes.items()},
        "conv1.rho_kernel": conv.reshape(16, 2, 3, 3),
        "fc1.rho_weight": dense,
        "conv1.mu_bias": as_float(np.zeros(16)),
        "conv1.rho_bias": as_float(np.full(16, -3.0)),
        "fc1.mu_bias": as_float(np.zeros(10)),
        "fc1.rho_bias": as_float(np.full(10, -3.0)),
        "fc1.eps_weight": as_float(np.zeros((10, 16))),
        "fc1.prior_weight_mu": as_float(np.zeros((10, 16))),
        "bn.num_batches_tracked": np.asarray(7),
    }


def torchbnn() -> dict[str, np.ndarray]:
    """`BayesLinear` and `BayesConv2d`: outputs first, logarithms of standard deviations."""
    return {
        "0.weight_mu": as_float(RNG.normal(size=(12, 20))),
        "0.weight_log_sigma": as_float(log_std(20, 12).T),
        "0.bias_mu": as_float(np.zeros(12)),
        "0.bias_log_sigma": as_float(np.full(12, -2.0)),
        "2.weight_mu": as_float(RNG.normal(size=(8, 3, 5, 5))),
        "2.weight_log_sigma": as_float(log_std(75, 8).T).reshape(8, 3, 5, 5),
    }


def tfp() -> dict[str, np.ndarray]:
    """`DenseFlipout` and `Convolution2DFlipout`: outputs last, a softplus."""
    return {
        "conv2d_flipout/kernel_posterior_loc": as_float(RNG.normal(size=(3, 3, 4, 16))),
        "conv2d_flipout/kernel_posterior_untransformed_scale": as_float(softplus_inverse(log_std(36, 16))).reshape(
            3, 3, 4, 16
        ),
        "dense_flipout/kernel_posterior_loc": as_float(RNG.normal(size=(16, 10))),
        "dense_flipout/kernel_posterior_untransformed_scale": as_float(softplus_inverse(log_std(16, 10))),
        "dense_flipout/bias_posterior_loc": as_float(np.zeros(10)),
    }


LIBRARIES: dict[str, tuple[Any, dict[str, Any], set[str]]] = {
    "bayesian-torch": (
        bayesian_torch,
        {"mean": r"(.*)mu_(kernel|weight|bias)", "scale": r"(.*)rho_(kernel|weight|bias)", "transform": "softplus"},
        {"conv1.rho_kernel", "fc1.rho_weight"},
    ),
    "torchbnn": (
        torchbnn,
        {"mean": r"(.*)weight_mu", "scale": r"(.*)weight_log_sigma", "transform": "exp"},
        {"0.weight_log_sigma", "2.weight_log_sigma"},
    ),
    "tfp": (
        tfp,
        {
            "mean": r"(.*)kernel_posterior_loc",
            "scale": r"(.*)kernel_posterior_untransformed_scale",
            "transform": "softplus",
        },
        {
            "conv2d_flipout/kernel_posterior_untransformed_scale",
            "dense_flipout/kernel_posterior_untransformed_scale",
        },
    ),
}


@pytest.mark.parametrize(("make", "options", "tied"), LIBRARIES.values(), ids=LIBRARIES)
def test_the_layout_of_a_library_goes_there_and_back(tmp_path, make, options, tied):
    arrays = make()
    save_file(arrays, tmp_path / "theirs", metadata={"format": "pt", "note": "kept"})
    found = compress_file(tmp_path / "theirs", tmp_path / "small", rank=2, **options)
    assert {scale.name for scale in found.scales} == tied
    assert found.loss < 1e-3
    assert found.bytes == tuple((tmp_path / name).stat().st_size for name in ("theirs", "small"))
    small = load_file(tmp_path / "small")
    assert small.keys() == (arrays.keys() - tied) | {
        f"{name}.{side}_log_scale" for name in tied for side in ("row", "column")
    }
    for scale in found.scales:
        rows, columns = (small[f"{scale.name}.{side}_log_scale"] for side in ("row", "column"))
        assert rows.shape[0] == columns.shape[0] == scale.rank == 2
        # One side for the outputs, one for all else, whichever order the library has.
        outputs = scale.shape[-1] if "posterior" in scale.name else scale.shape[0]
        assert {rows.shape[1], columns.shape[1]} == {outputs, np.prod(scale.shape) // outputs}

    decompress_file(tmp_path / "small", tmp_path / "again")
    again = load_file(tmp_path / "again")
    assert again.keys() == arrays.keys()
    for name, array in arrays.items():
        assert again[name].shape == array.shape
        assert again[name].dtype == array.dtype
        if name in tied:
            np.testing.assert_allclose(again[name], array, atol=0.02)
        else:
            np.testing.assert_array_equal(again[name], array)
    with safe_open(tmp_path / "again", framework="numpy") as file:
        assert file.metadata() == {"format": "pt", "note": "kept"}


def test_a_mean_may_stand_alone_and_vectors_are_left_as_they_are(tmp_path):
    options = LIBRARIES["bayesian-torch"][1]
    save_file(bayesian_torch(), tmp_path / "theirs")
    found = compress_file(tmp_path / "theirs", tmp_path / "small", rank=1, **options)
    assert found.kept == ("conv1.rho_bias", "fc1.rho_bias")
    assert "2 scales kept as they are" in str(found)
    assert "16 × 2 × 3 × 3" in str(found)


def test_a_budget_chooses_ranks(tmp_path):
    save_file(torchbnn(), tmp_path / "theirs")
    options = LIBRARIES["torchbnn"][1]
    found = compress_file(tmp_path / "theirs", tmp_path / "small", budget=0.1, max_rank=3, **options)
    assert [scale.rank for scale in found.scales] == [2, 2]
    loose = compress_file(tmp_path / "theirs", tmp_path / "smaller", budget=1e6, max_rank=3, **options)
    assert [scale.rank for scale in loose.scales] == [1, 1]
    assert loose.bytes[1] < found.bytes[1] < found.bytes[0]


def test_plain_standard_deviations_in_half_precision(tmp_path):
    std = np.exp(log_std(6, 40, rank=1)).astype(np.float16)
    save_file({"m": np.zeros((6, 40), np.float16), "s": std}, tmp_path / "theirs")
    compress_file(tmp_path / "theirs", tmp_path / "small", mean="m", scale="s", transform="identity", rank=1)
    assert load_file(tmp_path / "small")["s.row_log_scale"].dtype == np.float32
    decompress_file(tmp_path / "small", tmp_path / "again")
    again = load_file(tmp_path / "again")["s"]
    assert again.dtype == np.float16
    np.testing.assert_allclose(again, std, rtol=5e-3)


def test_the_output_axis_can_be_said(tmp_path):
    save_file({"m": np.zeros((4, 3, 20)), "s": RNG.normal(size=(4, 3, 20))}, tmp_path / "theirs")
    shapes = {}
    for axis in ("first", "last", None):
        options = {"mean": "m", "scale": "s", "transform": "exp", "rank": 1, "output_axis": axis}
        compress_file(tmp_path / "theirs", tmp_path / "small", **options)
        shapes[axis] = load_file(tmp_path / "small")["s.column_log_scale"].shape
        decompress_file(tmp_path / "small", tmp_path / "again")
        assert load_file(tmp_path / "again")["s"].shape == (4, 3, 20)
    assert shapes == {"first": (1, 4), "last": (1, 20), None: (1, 20)}


def test_tiny_standard_deviations_survive_the_softplus(tmp_path):
    rho = -60 + RNG.normal(size=(8, 1)) + RNG.normal(size=(1, 9))
    save_file({"m": np.zeros((8, 9)), "s": rho}, tmp_path / "theirs")
    compress_file(tmp_path / "theirs", tmp_path / "small", mean="m", scale="s", transform="softplus", rank=1)
    decompress_file(tmp_path / "small", tmp_path / "again")
    np.testing.assert_allclose(load_file(tmp_path / "again")["s"], rho, atol=1e-6)


MATRIX = np.full((6, 7), 0.1, np.float32)
REFUSED: dict[str, tuple[dict[str, np.ndarray], dict[str, Any], str]] = {
    "no scale": ({"m": MATRIX}, {}, r"`scale`, 's', matches no whole name; the tensors are 'm'"),
    "no mean": ({"s": MATRIX}, {}, r"`mean`, 'm', matches no whole name; the tensors are 's'"),
    "part of a name": ({"m": MATRIX, "a.s": MATRIX}, {}, r"`scale`, 's', matches no whole name"),
    "no regular expression": ({"m": MATRIX}, {"mean": "("}, r"`mean` is not a regular expression: '\(' \("),
    "a scale alone": (
        {"a.m": MATRIX, "a.s": MATRIX, "b.s": MATRIX},
        {"mean": r"(.)\.m", "scale": r"(.)\.s"},
        r"no mean for 'b.s': the capture groups of `scale`.*the means are 'a.m'",
    ),
    "not told apart": (
        {"m": MATRIX, "a.s": MATRIX, "b.s": MATRIX},
        {"scale": r".\.s"},
        r"`scale` does not tell 'a.s' and 'b.s' apart: .*capture groups",
    ),
    "both at once": ({"m": MATRIX}, {"scale": "m"}, "`mean` and `scale` both match 'm'; make the expressions narrower"),
    "shapes": ({"m": MATRIX[:3], "s": MATRIX}, {}, r"'s' has the shape \(6, 7\), its mean 'm' \(3, 7\)"),
    "integers": ({"m": MATRIX, "s": np.ones((6, 7), np.int32)}, {}, "'s' holds I32, and scales are floating-point"),
    "negative": (
        {"m": MATRIX, "s": -MATRIX},
        {"transform": "identity"},
        "'s' under `transform='identity'` gives standard deviations that are not all positive and finite",
    ),
    "transform": ({"m": MATRIX}, {"transform": "log"}, "`transform` must be one of 'softplus', 'exp', 'identity', got"),
    "axis": ({"m": MATRIX}, {"output_axis": "middle"}, "`output_axis` must be one of 'first', 'last', got 'middle'"),
    "two ways": ({"m": MATRIX}, {"budget": 1.0}, "exactly one of `rank` and `budget`"),
    "no way": ({"m": MATRIX}, {"rank": None}, "exactly one of `rank` and `budget`"),
    "vectors only": ({"m": MATRIX[0], "s": MATRIX[0]}, {}, r"nothing to compress in .*of 1 scales 0 are matrices"),
    "too high a rank": (
        {"m": MATRIX, "s": MATRIX},
        {"rank": 4},
        r"of 1 scales 1 are matrices, and no tie of them saves",
    ),
    "rank": ({"m": MATRIX, "s": MATRIX}, {"rank": 0}, "`rank` must be a positive integer, got 0"),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("arrays", "options", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_compressed_is_said(tmp_path, arrays, options, says):
    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, tmp_path / "theirs")
    given = {"mean": "m", "scale": "s", "rank": 1} | options
    with pytest.raises(ValueError, match=says):
        compress_file(tmp_path / "theirs", tmp_path / "small", **given)
    assert not (tmp_path / "small").exists()


def test_what_cannot_be_restored_is_said(tmp_path):
    save_file({"m": MATRIX, "s": MATRIX}, tmp_path / "theirs")
    with pytest.raises(ValueError, match=r"was not written by `compress_file`: its header has no entry"):
        decompress_file(tmp_path / "theirs", tmp_path / "again")
    compress_file(tmp_path / "theirs", tmp_path / "small", mean="m", scale="s", rank=1)
    with pytest.raises(ValueError, match="is compressed already; `decompress_file` restores it"):
        compress_file(tmp_path / "small", tmp_path / "again", mean="m", scale="s", rank=1)
    header, tensors = read_tensors(tmp_path / "small")
    write_tensors(tmp_path / "cut", header, {"m": tensors["m"]})
    with pytest.raises(ValueError, match=r"is damaged: it has no 's.row_log_scale', 's.column_log_scale'"):
        decompress_file(tmp_path / "cut", tmp_path / "again")
    later = {name: text.replace('"format": 1', '"format": 2') for name, text in header.items()}
    write_tensors(tmp_path / "later", later, {"m": Tensor.of(MATRIX)})
    with pytest.raises(ValueError, match="was compressed by another version: its format is 2, not 1"):
        decompress_file(tmp_path / "later", tmp_path / "again")
