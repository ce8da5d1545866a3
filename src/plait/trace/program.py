"""A model's forward pass as a jaxpr whose first inputs are the weights."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax

from plait._compat import ClosedJaxpr
from plait._typing import Array


@dataclass(frozen=True)
class Program:
    """The traced pass, and how to put its flat outputs back together."""

    jaxpr: ClosedJaxpr
    paths: tuple[str, ...]
    """The weights' names, in the order of the first inputs."""
    inputs: tuple[Any, ...]
    """The arrays of the other arguments, in the order of the remaining inputs."""
    rebuild: Callable[[list[Any]], Any]


def _is_array(value: Any) -> bool:
    return eqx.is_array(value) or isinstance(value, jax.ShapeDtypeStruct)


def trace(function: Callable[..., Any], weights: dict[str, Any], arguments: tuple[Any, ...]) -> Program:
    """Trace `function(weights, *arguments)`; what is not an array among arguments and outputs is passed through."""
    arrays, rest = eqx.partition(arguments, _is_array)
    leaves, structure = jax.tree.flatten(arrays)
    paths = tuple(weights)
    outside: dict[str, Any] = {}

    def flat(values: list[Array], leaves: list[Any]) -> list[Any]:
        given = eqx.combine(jax.tree.unflatten(structure, leaves), rest)
        outputs = function(dict(zip(paths, values, strict=True)), *given)
        results, static = eqx.partition(outputs, eqx.is_array)
        flat_results, outside["structure"] = jax.tree.flatten(results)
        outside["static"] = static
        return flat_results

    jaxpr = jax.make_jaxpr(flat)(list(weights.values()), leaves)

    def rebuild(results: list[Any]) -> Any:
        return eqx.combine(jax.tree.unflatten(outside["structure"], results), outside["static"])

    return Program(jaxpr, paths, tuple(leaves), rebuild)
