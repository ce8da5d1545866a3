"""Everything that depends on the version of JAX, or on parts of it that are not its public surface."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.core as jax_core
import jax.extend.core as jex
import jax.numpy as jnp

ClosedJaxpr = jex.ClosedJaxpr
Jaxpr = jex.Jaxpr
JaxprEqn = jex.JaxprEqn
Literal = jex.Literal
Tracer: Any = jax_core.Tracer
Var = jex.Var


def bind_equation(equation: Any, operands: Sequence[Any]) -> list[Any]:
    """Run one equation of a jaxpr on operands, whatever its primitive is."""
    # JAX up to 0.9 returns (subfunctions, params), later versions the params alone.
    bound = equation.primitive.get_bind_params(equation.params)
    subfunctions, params = bound if isinstance(bound, tuple) else ((), bound)
    # An equation remembers the configuration it was traced under (device kind, matmul precision, ...).
    context = getattr(equation, "ctx", None)
    manager = context.manager if context is not None else contextlib.nullcontext()
    with manager:
        results = equation.primitive.bind(*subfunctions, *operands, **params)
    return list(results) if equation.primitive.multiple_results else [results]


def scan_sizes(params: Mapping[str, Any]) -> tuple[int, int]:
    """Of the operands of a `scan`: how many are constants, and how many, after these, are carried."""
    # JAX 0.10 counts them; 0.12 keeps a tree of all operands.
    if "ft_in" not in params:
        return params["num_consts"], params["num_carry"]
    constants, carried, _ = params["ft_in"].unpack()
    return len(list(constants)), len(list(carried))


def is_mapped(value: Any) -> bool:
    """Whether the innermost transformation that a value is traced by is `jax.vmap`."""
    return type(value).__name__ == "BatchTracer"


def is_drop(variable: Any) -> bool:
    """Whether a variable of a jaxpr is never read."""
    return type(variable).__name__ == "DropVar"


def close(jaxpr: Any) -> tuple[Jaxpr, Sequence[Any]]:
    """A jaxpr parameter of an equation as (jaxpr, constants), closed or not."""
    if isinstance(jaxpr, ClosedJaxpr):
        return jaxpr.jaxpr, jaxpr.consts
    return jaxpr, ()


def is_key(value: Any) -> bool:
    """Whether a value is a typed key array of `jax.random.key`."""
    return hasattr(value, "dtype") and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)
