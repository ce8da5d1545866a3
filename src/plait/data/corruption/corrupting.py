"""Pictures made worse in 15 common ways, 5 strengths each, on the fly (Hendrycks & Dietterich 2019).

The noise of picture n depends on the key, the type and n alone: not on how many are corrupted together, and not on the
severity, so that a picture gets worse from one severity to the next in the same way. Pixels come out as bytes would.

These are the public definitions with their constants, in other arithmetic: `published.py` reads the files themselves.
Frost is a drawn texture where the publication mixes in photographs.
"""

import functools
import zlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from plait._random import check_key
from plait._typing import Array, PRNGKey
from plait.data.corruption import blur, digital, geometry, jpeg, noise, weather
from plait.data.corruption.severities import COLOUR, COMMON, EXTRA, GEOMETRIC, GREY

CHUNK = 250
"""Pictures in one run of the program."""

Corruption = Callable[[Array, PRNGKey, Any], Array]
FUNCTIONS: dict[str, Corruption] = {
    name: next(
        getattr(module, name) for module in (noise, blur, weather, digital, jpeg, geometry) if hasattr(module, name)
    )
    for name in (*COMMON, *EXTRA, *GEOMETRIC)
}
"""By name."""
TRACED = (
    *("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise", "frost", "fog", "brightness", "contrast"),
    *("saturate", "rotate", "shear", "scale", "translate", "stripe"),
)
"""Those whose constants may be arrays: one program serves all severities."""
SEVERITIES = (1, 2, 3, 4, 5)


def corrupt(images: np.ndarray, kind: str, severity: int, *, key: PRNGKey, first: int = 0) -> np.ndarray:
    """Corrupted pictures, [N, height, width] or [N, height, width, 3] like those given, in [0, 1].

    Args:
        images: square pictures, as bytes or in [0, 1]. Grey ones get the constants of MNIST-C, others of CIFAR-10-C.
        kind: one of `COMMON`, `EXTRA` or, for grey pictures, `GEOMETRIC`.
        severity: 1 to 5.
        key: what is random follows from it.
        first: the number of the first picture, where these are a part of more.
    """
    check_key(key)
    pixels = _check(images, kind, severity)
    grey = pixels.shape[-1] == 1
    constants = (GREY if grey else COLOUR)[kind][severity - 1]
    traced = jax.tree.map(jnp.float32, constants) if kind in TRACED else None
    program = _program(kind, None if kind in TRACED else constants)
    kind_key = jax.random.fold_in(key, zlib.crc32(kind.encode()) & 0x7FFFFFFF)
    size, parts = min(CHUNK, len(pixels)), []
    for start in range(0, len(pixels), size):
        part = pixels[start : start + size]
        # The last part is filled up, so that one program serves all.
        full = np.concatenate([part, np.zeros((size - len(part), *part.shape[1:]), part.dtype)])
        indices = jnp.arange(size, dtype=jnp.uint32) + np.uint32(first + start)
        parts.append(np.asarray(program(full, kind_key, indices, traced))[: len(part)])
    return np.concatenate(parts).reshape(images.shape)


@functools.cache
def _program(kind: str, constants: Any) -> Callable[[np.ndarray, PRNGKey, Array, Any], Array]:
    def one(image: Array, key: PRNGKey, index: Array, traced: Any) -> Array:
        chosen = constants if traced is None else traced
        worse = FUNCTIONS[kind](image, jax.random.fold_in(key, index), chosen)
        # A byte is cut off, not rounded; the summand keeps what was a byte as it was.
        return jnp.floor(255 * jnp.clip(worse, 0, 1) + 1e-3) / 255

    return jax.jit(jax.vmap(one, in_axes=(0, None, 0, None)))


def _check(images: np.ndarray, kind: str, severity: int) -> np.ndarray:
    """[N, size, size, colours] in [0, 1]."""
    if isinstance(severity, bool) or severity not in SEVERITIES:
        raise ValueError(f"`severity` must be 1 to 5, got {severity!r}")
    shape = images.shape
    if images.ndim not in (3, 4) or shape[1] != shape[2] or shape[3:] not in ((), (1,), (3,)) or not len(images):
        raise ValueError(
            f"`images` must be square pictures [N, size, size], grey, or [N, size, size, 3], got shape {shape}"
        )
    grey = shape[3:] != (3,)
    known = GREY if grey else COLOUR
    if kind not in known:
        raise ValueError(
            f"unknown corruption {kind!r}; those of {'grey' if grey else 'colour'} pictures are {', '.join(known)}"
        )
    pixels = images.astype(np.float32) / np.float32(255 if images.dtype == np.uint8 else 1)
    if pixels.min() < 0 or pixels.max() > 1:
        raise ValueError(
            f"`images` must be bytes or lie in [0, 1], got values from {images.min():g} to {images.max():g}; corrupt "
            "pictures before they are scaled"
        )
    return pixels.reshape(*shape[:3], 1 if grey else 3)
