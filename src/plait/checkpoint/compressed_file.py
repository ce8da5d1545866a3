"""Variational checkpoints of other libraries with their standard deviations tied: `compress_file`, `decompress_file`.

A file holds a mean and an untransformed scale for each weight, by names that a pair of regular expressions tells apart:

    library         mean                                  scale                                            transform
    bayesian-torch  r"(.*)mu_(kernel|weight)"             r"(.*)rho_(kernel|weight)"                       softplus
    torchbnn        r"(.*)weight_mu"                      r"(.*)weight_log_sigma"                          exp
    TFP             r"(.*)(kernel)_posterior_loc"         r"(.*)(kernel)_posterior_untransformed_scale"    softplus

A scale belongs to the mean whose capture groups say the same. In the compressed file the scale `name` is replaced by

    name.row_log_scale [rank, n], name.column_log_scale [rank, m]:      log sigma_ij = log sum_k exp(u_ki + v_kj)

with rows i over all axes but one and columns j over that one, the output axis. The entry "plait compression" of the
header (JSON: shape, dtype, transform, output axis, rank, loss in nats) says how to undo it. All other tensors keep
their bytes, as does the rest of the header.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from plait._table import Table
from plait.analysis.low_rank import check_rank
from plait.analysis.rank_choice import MAX_RANK, fitting_ties, saves
from plait.analysis.tie import Ties, tie
from plait.checkpoint.tensors_file import DTYPES, Tensor, read_tensors, write_tensors

ENTRY = "plait compression"
FORMAT = 1
FACTORS = ("row_log_scale", "column_log_scale")

Transform = Literal["softplus", "exp", "identity"]
OutputAxis = Literal["first", "last"]


@dataclass(frozen=True)
class TiedScale:
    """One scale of a file that was tied."""

    name: str
    mean: str
    """The tensor it belongs to."""
    shape: tuple[int, ...]
    rank: int
    loss: float
    """KL(tied || mean field) in nats."""


@dataclass(frozen=True)
class FileCompression:
    """What became of a file; `print` it for a table."""

    scales: tuple[TiedScale, ...]
    kept: tuple[str, ...]
    """Scales that stay as they are: vectors, and those of which no tie saves numbers or is under the budget."""
    bytes: tuple[int, int]
    """Of the file, before and after."""

    @property
    def loss(self) -> float:
        """KL(tied || mean field) in nats, all scales together."""
        return sum(scale.loss for scale in self.scales)

    def __str__(self) -> str:
        rows = [
            (scale.name, " × ".join(map(str, scale.shape)), str(scale.rank), f"{scale.loss:.4g}")
            for scale in self.scales
        ]
        before, after = self.bytes
        return "\n".join(
            [
                Table(("scale", "shape", "rank", "KL"), rows, left=2).text(),
                f"KL(tied || mean field): {self.loss:.4g} nats; {len(self.kept)} scales kept as they are",
                f"{before:,} bytes before, {after:,} after ({100 * after / before:.1f} %)",
            ]
        )


def compress_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    mean: str,
    scale: str,
    transform: Transform = "softplus",
    rank: int | None = None,
    budget: float | None = None,
    max_rank: int = MAX_RANK,
    output_axis: OutputAxis | None = None,
) -> FileCompression:
    """Tie the standard deviations in a safetensors file of any library.

    Args:
        source: the file to read.
        target: the file to write.
        mean: a regular expression that matches the whole names of the means.
        scale: one for the scales, with the same capture groups.
        transform: what makes standard deviations of scales: "softplus", "exp" (scales are logarithms) or "identity".
        rank: of every scale of which it saves numbers; or instead
        budget: the smallest ranks whose losses are together under so many nats of KL(tied || mean field).
        max_rank: the largest rank to try under a budget.
        output_axis: which axis of a tensor runs over outputs: "first" (PyTorch) or "last" (TensorFlow, Flax). By
            default the one that leaves fewer numbers to store, tensor by tensor.
    """
    _check_choice("transform", transform, Transform)
    if output_axis is not None:
        _check_choice("output_axis", output_axis, OutputAxis)
    if (rank is None) == (budget is None):
        raise ValueError("say how far to compress by exactly one of `rank` and `budget`")
    if rank is not None:
        check_rank(rank)
    header, tensors = read_tensors(Path(source))
    if ENTRY in header:
        raise ValueError(f"{source} is compressed already; `decompress_file` restores it")
    pairs = _pair(tensors, mean, scale)
    matrices: dict[str, np.ndarray] = {}
    axes: dict[str, OutputAxis] = {}
    for name, mean_name in pairs.items():
        shape = tensors[name].shape
        _check_pair(tensors, name, mean_name)
        if len(shape) >= 2 and min(shape) > 0:
            axes[name] = _output_axis(shape) if output_axis is None else output_axis
            matrices[name] = _to_matrix(_log_std(tensors[name].array(), transform, name), axes[name])
    if budget is not None:
        ties = fitting_ties(matrices, budget, max_rank=max_rank)
    else:
        assert rank is not None
        ties = {name: tie(matrix, rank) for name, matrix in matrices.items() if saves(matrix.shape, rank)}
    if not ties:
        raise ValueError(
            f"nothing to compress in {source}: of {len(pairs)} scales {len(matrices)} are matrices, and no tie of them "
            "saves numbers or is under the budget"
        )
    entries = {
        name: {
            "mean": pairs[name],
            "shape": list(tensors[name].shape),
            "dtype": tensors[name].dtype,
            "transform": transform,
            "output_axis": axes[name],
            "rank": found.rank,
            "loss": found.loss,
        }
        for name, found in ties.items()
    }
    kept = {name: tensor for name, tensor in tensors.items() if name not in ties}
    factors = {
        factor: tensor for name in ties for factor, tensor in _factors(name, tensors[name].dtype, ties[name]).items()
    }
    note = json.dumps({"format": FORMAT, "scales": entries})
    write_tensors(Path(target), header | {ENTRY: note}, kept | factors)
    return FileCompression(
        tuple(
            TiedScale(name, pairs[name], tensors[name].shape, ties[name].rank, ties[name].loss) for name in sorted(ties)
        ),
        tuple(sorted(pairs.keys() - ties.keys())),
        (Path(source).stat().st_size, Path(target).stat().st_size),
    )


def decompress_file(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Restore the names, shapes and dtypes that a file had before `compress_file`; scales are those of the ties."""
    header, tensors = read_tensors(Path(source))
    if ENTRY not in header:
        raise ValueError(f"{source} was not written by `compress_file`: its header has no entry {ENTRY!r}")
    note = json.loads(header[ENTRY])
    if note.get("format") != FORMAT:
        raise ValueError(
            f"{source} was compressed by another version: its format is {note.get('format')!r}, not {FORMAT}"
        )
    restored = dict(tensors)
    for name, entry in note["scales"].items():
        missing = [factor for factor in _factor_names(name) if factor not in tensors]
        if missing:
            raise ValueError(f"{source} is damaged: it has no {', '.join(map(repr, missing))}")
        rows, columns = (restored.pop(factor).array().astype(np.float64) for factor in _factor_names(name))
        log_std = _from_matrix(Ties(rows, columns, 0.0, 0.0).log_std, tuple(entry["shape"]), entry["output_axis"])
        scale = _untransformed(log_std, entry["transform"])
        restored[name] = Tensor.of(scale.astype(DTYPES[entry["dtype"]]))
    rest = {name: text for name, text in header.items() if name != ENTRY}
    write_tensors(Path(target), rest, restored)


# -- names -------------------------------------------------------------------------------------------------------------


def _pair(tensors: Mapping[str, Tensor], mean: str, scale: str) -> dict[str, str]:
    """The mean of every scale."""
    means = _by_groups(tensors, "mean", mean)
    scales = _by_groups(tensors, "scale", scale)
    both = sorted({*means.values()} & {*scales.values()})
    if both:
        raise ValueError(f"`mean` and `scale` both match {_list(both)}; make the expressions narrower")
    alone = sorted(name for groups, name in scales.items() if groups not in means)
    if alone:
        raise ValueError(
            f"no mean for {_list(alone)}: the capture groups of `scale`, which say what a scale belongs to, must be "
            f"those of `mean`; the means are {_list(sorted(means.values()))}"
        )
    return {name: means[groups] for groups, name in scales.items()}


def _by_groups(tensors: Mapping[str, Tensor], option: str, pattern: str) -> dict[tuple[str | None, ...], str]:
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"`{option}` is not a regular expression: {pattern!r} ({error})") from error
    found: dict[tuple[str | None, ...], str] = {}
    for name in sorted(tensors):
        match = expression.fullmatch(name)
        if match is None:
            continue
        groups = match.groups()
        if groups in found:
            raise ValueError(
                f"`{option}` does not tell {found[groups]!r} and {name!r} apart: put what differs between weights into "
                r"capture groups, as in r'(.*)rho_(kernel|weight)'"
            )
        found[groups] = name
    if not found:
        raise ValueError(f"`{option}`, {pattern!r}, matches no whole name; the tensors are {_list(sorted(tensors))}")
    return found


def _list(names: list[str], limit: int = 12) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(map(repr, names[:limit])) + more


def _factor_names(name: str) -> tuple[str, str]:
    return f"{name}.{FACTORS[0]}", f"{name}.{FACTORS[1]}"


# -- values ------------------------------------------------------------------------------------------------------------


def _check_choice(option: str, value: Any, choices: Any) -> None:
    if value not in get_args(choices):
        raise ValueError(f"`{option}` must be one of {', '.join(map(repr, get_args(choices)))}, got {value!r}")


def _check_pair(tensors: Mapping[str, Tensor], name: str, mean: str) -> None:
    if tensors[name].shape != tensors[mean].shape:
        raise ValueError(
            f"{name!r} has the shape {tensors[name].shape}, its mean {mean!r} {tensors[mean].shape}: they are not of "
            "one weight"
        )
    if tensors[name].dtype not in ("F16", "BF16", "F32", "F64"):
        raise ValueError(f"{name!r} holds {tensors[name].dtype}, and scales are floating-point numbers")


def _log_std(values: np.ndarray, transform: Transform, name: str) -> np.ndarray:
    rho = values.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        if transform == "exp":
            log_std = rho
        elif transform == "identity":
            log_std = np.log(rho)
        else:
            # log(1 + e^rho) is e^rho where that is small.
            log_std = np.where(rho < -30, rho, np.log(np.logaddexp(0, rho)))
    if not np.all(np.isfinite(log_std)):
        raise ValueError(
            f"{name!r} under `transform={transform!r}` gives standard deviations that are not all positive and finite: "
            "choose the transform that its library uses"
        )
    return log_std


def _untransformed(log_std: np.ndarray, transform: Transform) -> np.ndarray:
    if transform == "exp":
        return log_std
    std = np.exp(log_std)
    if transform == "identity":
        return std
    return np.where(log_std < -30, log_std, std + np.log(-np.expm1(-std)))


def _output_axis(shape: tuple[int, ...]) -> OutputAxis:
    """The axis whose rows and columns together are fewer."""
    size = int(np.prod(shape))
    return "first" if size // shape[0] + shape[0] <= size // shape[-1] + shape[-1] else "last"


def _to_matrix(tensor: np.ndarray, axis: OutputAxis) -> np.ndarray:
    if axis == "first":
        return tensor.reshape(tensor.shape[0], -1).T
    return tensor.reshape(-1, tensor.shape[-1])


def _from_matrix(matrix: np.ndarray, shape: tuple[int, ...], axis: OutputAxis) -> np.ndarray:
    return (matrix.T if axis == "first" else matrix).reshape(shape)


def _factors(name: str, dtype: str, ties: Ties) -> dict[str, Tensor]:
    # Logarithms lose too much in half precision, and are few.
    kind = np.float64 if dtype == "F64" else np.float32
    sides = (ties.row_log_scale, ties.column_log_scale)
    return {factor: Tensor.of(side.astype(kind)) for factor, side in zip(_factor_names(name), sides, strict=True)}
