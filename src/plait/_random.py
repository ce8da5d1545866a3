"""Keys and noise. Keys are typed, keyword-only at the surface, never defaulted and never used twice."""

import math
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
        dtype = getattr(key, "dtype", None)
        came = f"{type(key).__name__}" + ("" if dtype is None else f" of dtype {dtype}")
        remedy = "; `jax.random.wrap_key_data` makes one of raw key data" if dtype == jnp.uint32 else ""
        raise TypeError(f"`{what}` must be a typed key from `jax.random.key(seed)`, got {came}{remedy}")
    if key.shape != ():
        raise ValueError(f"`{what}` must be one key, got an array of keys of shape {key.shape}; use `jax.vmap` over it")


def key_for(key: PRNGKey, path: str, use: int = 0) -> PRNGKey:
    """The key of one use of one weight: it depends on the weight's path, not on what else the model contains."""
    return jax.random.fold_in(jax.random.fold_in(key, zlib.crc32(path.encode()) & 0x7FFFFFFF), use)


def normal(key: PRNGKey, shape: tuple[int, ...], dtype: Any) -> Array:
    """Standard normal noise; drawn in at least 32 bits, so that half precision does not coarsen its tails."""
    wide = jnp.float32 if jnp.finfo(dtype).bits < 32 else dtype
    if wide == jnp.float32 and str(jax.random.key_impl(key)) == "threefry2x32":
        values = normal_quantile(threefry_bits(key, shape))
    else:
        values = jax.random.normal(key, shape, wide)
    return values.astype(dtype)


def normal_quantile(bits: Array) -> Array:
    """The quantile function of N(0, 1) at (n + 1/2) 2^-23, n the upper 23 bits: Wichura's AS 241, PPND7 (1988).

    Within 4e-7 of the exact value, relatively. That it ends in a division matters: XLA takes division for expensive and
    keeps the noise for the backward pass, where it would draw the bits again and again for a chain of cheap operations.
    """
    uniform = _uniform(bits)
    centred = uniform - 0.5
    central = 0.180625 - jnp.square(centred)
    root = jnp.sqrt(-jnp.log(jnp.minimum(uniform, 1 - uniform))) - 1.6
    is_tail = central < 0
    numerator = jnp.where(
        is_tail,
        jnp.sign(centred) * _polynomial(root, 0.17023821103, 1.3067284816, 2.7568153900, 1.4234372777),
        centred * _polynomial(central, 59.109374720, 159.29113202, 50.434271938, 3.3871327179),
    )
    denominator = jnp.where(
        is_tail,
        _polynomial(root, 0.12021132975, 0.73700164250, 1.0),
        _polynomial(central, 67.187563600, 78.757757664, 17.895169469, 1.0),
    )
    return numerator / denominator


def cauchy(key: PRNGKey, shape: tuple[int, ...], dtype: Any) -> Array:
    """Standard Cauchy noise; drawn in at least 32 bits."""
    wide = jnp.float32 if jnp.finfo(dtype).bits < 32 else dtype
    if wide == jnp.float32 and str(jax.random.key_impl(key)) == "threefry2x32":
        values = cauchy_quantile(threefry_bits(key, shape))
    else:
        values = jax.random.cauchy(key, shape, wide)
    return values.astype(dtype)


def cauchy_quantile(bits: Array) -> Array:
    """tan(pi (u - 1/2)) at u = (n + 1/2) 2^-23, n the upper 23 bits, within 4e-7 of the exact value, relatively.

    A Pade approximant of the tangent up to pi / 4, and its inverse beyond: no call of `tan`, and one division.
    """
    centred = _uniform(bits) - 0.5
    distance = jnp.abs(centred)
    is_tail = distance > 0.25
    angle = math.pi * jnp.where(is_tail, 0.5 - distance, distance)
    square = jnp.square(angle)
    sine, cosine = angle * _polynomial(square, 1.0, -105.0, 945.0), _polynomial(square, 15.0, -420.0, 945.0)
    return jnp.sign(centred) * jnp.where(is_tail, cosine, sine) / jnp.where(is_tail, sine, cosine)


def _uniform(bits: Array) -> Array:
    """(n + 1/2) 2^-23: never 0 or 1."""
    return ((bits >> 9).astype(jnp.int32).astype(jnp.float32) + 0.5) * 2.0**-23


def _polynomial(x: Array, highest: float, *coefficients: float) -> Array:
    value = jnp.full_like(x, highest)
    for coefficient in coefficients:
        value = value * x + coefficient
    return value


ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry_bits(key: PRNGKey, shape: tuple[int, ...]) -> Array:
    """The bits of `jax.random.bits(key, shape)`: Threefry-2x32 with 20 rounds (Salmon et al. 2011), unrolled.

    JAX compiles the rounds as a loop on a CPU, which writes every entry to memory five times; noise for every
    pre-activation then costs as much as a matrix product. Unrolled, it is one pass that fuses with what uses it.
    """
    first, second = jax.random.key_data(key)
    schedule = (first, second, first ^ second ^ jnp.uint32(0x1BD11BDA))
    count = jax.lax.iota(jnp.uint32, math.prod(shape)).reshape(shape)
    left, right = jnp.zeros_like(count) + schedule[0], count + schedule[1]
    for group in range(5):
        for rotation in ROTATIONS[group % 2]:
            left = left + right
            right = left ^ ((right << rotation) | (right >> (32 - rotation)))
        left = left + schedule[(group + 1) % 3]
        right = right + schedule[(group + 2) % 3] + jnp.uint32(group + 1)
    return left ^ right


def signs(key: PRNGKey, shape: tuple[int, ...], dtype: Any) -> Array:
    """Independent +-1 with equal probability; every random word gives 32 of them."""
    if str(jax.random.key_impl(key)) != "threefry2x32" or not shape:
        return jax.random.rademacher(key, shape, dtype)
    words = threefry_bits(key, (*shape[:-1], -(-shape[-1] // 32)))
    bits = (words[..., None] >> jax.lax.iota(jnp.uint32, 32).reshape((1,) * len(shape) + (32,))) & 1
    flat = bits.reshape(*shape[:-1], words.shape[-1] * 32)[..., : shape[-1]]
    return (2 * flat.astype(jnp.int32) - 1).astype(dtype)
