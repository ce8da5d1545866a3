"""Files of the safetensors format, whoever wrote them: tensors by name as they lie in the file, and a header of text.

    8 bytes, little endian: length of the header | header, JSON: {name: {dtype, shape, data_offsets}} | data

Tensors keep their bytes, so that dtypes which NumPy does not know pass through.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from plait.checkpoint.atomic import write_whole

DTYPES: dict[str, Any] = {
    "BOOL": np.bool_,
    "F16": np.float16,
    "BF16": jnp.bfloat16,
    "F32": np.float32,
    "F64": np.float64,
    "I8": np.int8,
    "I16": np.int16,
    "I32": np.int32,
    "I64": np.int64,
    "U8": np.uint8,
    "U16": np.uint16,
    "U32": np.uint32,
    "U64": np.uint64,
}
"""By the names of the format."""


@dataclass(frozen=True)
class Tensor:
    """One tensor of a file."""

    dtype: str
    """As the format names it."""
    shape: tuple[int, ...]
    data: bytes

    @classmethod
    def of(cls, array: np.ndarray) -> "Tensor":
        """An array of a dtype that is in `DTYPES`."""
        names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
        return cls(names[array.dtype], array.shape, np.ascontiguousarray(array).tobytes())

    def array(self) -> np.ndarray:
        """Its values; its dtype must be in `DTYPES`."""
        return np.frombuffer(self.data, DTYPES[self.dtype]).reshape(self.shape)


def read_tensors(path: Path) -> tuple[dict[str, str], dict[str, Tensor]]:
    """The header's text and the tensors."""
    from safetensors import SafetensorError, deserialize

    if path.is_dir():
        raise ValueError(f"{path} is a folder; give the name of a file")
    content = path.read_bytes()
    try:
        tensors = dict(deserialize(content))
    except SafetensorError as error:
        raise ValueError(f"{path} is not a whole safetensors file ({error}): it is foreign or was cut off") from error
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")]).get("__metadata__", {})
    return header, {
        name: Tensor(tensor["dtype"], tuple(tensor["shape"]), bytes(tensor["data"])) for name, tensor in tensors.items()
    }


def write_tensors(path: Path, header: Mapping[str, str], tensors: Mapping[str, Tensor]) -> None:
    """A file, whole or not at all."""
    entries: dict[str, Any] = {"__metadata__": dict(header)} if header else {}
    # The widest numbers first, each on a multiple of its size, which readers that map the file rely on.
    order = sorted(tensors, key=lambda name: (-len(tensors[name].data) // max(math.prod(tensors[name].shape), 1), name))
    begin = 0
    for name in order:
        tensor = tensors[name]
        end = begin + len(tensor.data)
        entries[name] = {"dtype": tensor.dtype, "shape": list(tensor.shape), "data_offsets": [begin, end]}
        begin = end
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    write_whole(path, len(text).to_bytes(8, "little") + text + b"".join(tensors[name].data for name in order))
