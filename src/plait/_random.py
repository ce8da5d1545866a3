"""Keys and noise. Keys are typed, keyword-only at the surface, never defaulted and never used twice."""

import zlib
from typing import Any

import jax
import jax.numpy as jnp

from plait._compat import is_key
from plait._typing import Array, PRNGKey


def check_key(key: Any, *, what: str = "key", optional: bool = False) -> None:
    """Refuse anything but one typed key."""
    if key is None and optional:
        return
    if key is None or not is_key(key):
        came = "None" if key is None else f"{type(key).__name__} of dtype {getattr(key, 'dtype', '?')}"
        raise TypeError(f"`{what}` must be a typed key from `jax.random.key(seed)`, got {came}")
    if key.shape != ():
        raise ValueError(f"`{what}` must be one key, got an array of keys of shape {key.shape}; use `jax.vmap` over it")


def key_for(key: PRNGKey, path: str, use: int = 0) -> PRNGKey:
    """The key of one use of one weight: it depends on the weight's path, not on what else the model contains."""
    return jax.random.fold_in(jax.random.fold_in(key, zlib.crc32(path.encode()) & 0x7FFFFFFF), use)


def normal(key: PRNGKey, shape: tuple[int, ...], dtype: Any) -> Array:
    """Standard normal noise; drawn in at least 32 bits, so that half precision does not coarsen its tails."""
    wide = jnp.float32 if jnp.finfo(dtype).bits < 32 else dtype
    return jax.random.normal(key, shape, wide).astype(dtype)


def signs(key: PRNGKey, shape: tuple[int, ...], dtype: Any) -> Array:
    """Independent +-1 with equal probability."""
    return jax.random.rademacher(key, shape, dtype)
