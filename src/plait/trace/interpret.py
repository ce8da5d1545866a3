"""Evaluate a jaxpr in which some inputs are random weights.

An equation without a random weight among its operands runs as it stands. Layout operations on a random weight are
carried along symbolically (`WeightView`). The first operation that computes with it decides:

    a site (contraction, convolution, lookup, shift, scale)     the handler says what comes out
    a nested call (jit, remat, closed call)                     entered
    a scan over a weight that has a structured draw             entered, the draw fixed for all its steps
    anything else                                               the weight becomes one drawn array

`custom_jvp` and `custom_vjp` functions that do not touch a random weight run as they stand, so their rules survive; one
that takes a random weight is given a drawn array, for the same reason.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from plait._compat import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, bind_equation, close, is_drop, scan_sizes
from plait._typing import Array
from plait.site import SITES, Site, WeightView
from plait.site.base import ExampleAxis, Operand

CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr"}
"""Primitives that only wrap a jaxpr, and the parameter that holds it."""

CHECKPOINTS = ("checkpoint", "remat", "remat2")


@runtime_checkable
class Handler(Protocol):
    """What the interpreter asks about random weights."""

    @property
    def keeps_checkpoints(self) -> bool:
        """Whether checkpointed bodies run as they stand, what they compute being kept."""
        ...

    def meet(self, site: Site, x: Any) -> Any:
        """The result where a random weight meets an activation; both may be `Waiting`."""
        ...

    def array(self, path: str) -> Array:
        """The weight as one drawn array."""
        ...

    def enters_loops(self, path: str) -> bool:
        """Whether a scan is to be entered with this weight, its draw fixed, instead of given an array."""
        ...

    def examples(self, variable: Any) -> ExampleAxis | None:
        """Where examples lie in a traced value; None where it has no axis over them, or it does not matter."""
        ...

    def body(self, *, loop: bool) -> AbstractContextManager[Callable[[], None]]:
        """Around a body that JAX traces by itself, as often as it likes: call what this yields before each trace.

        What was drawn inside must not be used outside.
        """
        ...


@runtime_checkable
class Waiting(Protocol):
    """A value whose noise is still to be drawn, because what uses it may have more to add to it.

    It is kept only while it has a single use ahead: two uses must see one draw.
    """

    def settle(self) -> Array:
        """The value."""
        ...

    def moved(self, equation: JaxprEqn) -> "Waiting":
        """The value after an equation, one of `MOVES`, that only moves entries about."""
        ...


MOVES = ("transpose", "reshape", "squeeze", "expand_dims")
"""Primitives through which a value can wait."""


def interpret(jaxpr: ClosedJaxpr, weights: dict[str, Any], arguments: Sequence[Any], handler: Handler) -> list[Any]:
    """Outputs of a program whose first inputs are the weights, as views, and the rest arrays."""
    views = [WeightView.of(path, tuple(weight.shape), weight.dtype) for path, weight in weights.items()]
    results = _run(jaxpr.jaxpr, jaxpr.consts, [*views, *arguments], handler)
    return [_materialise(value, handler) for value in results]


def _materialise(value: Any, handler: Handler) -> Any:
    if isinstance(value, WeightView):
        return value.show(value.cut(handler.array(value.path)))
    return _settled(value)


def _settled(value: Any) -> Any:
    return value.settle() if isinstance(value, Waiting) else value


def _run(jaxpr: Jaxpr, constants: Sequence[Any], arguments: Sequence[Any], handler: Handler) -> list[Any]:
    environment: dict[Var, Any] = dict(zip(jaxpr.constvars, constants, strict=True))
    read_by = [*jaxpr.outvars, *(atom for equation in jaxpr.eqns for atom in equation.invars)]
    uses = Counter(atom for atom in read_by if not isinstance(atom, Literal))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else environment[atom]

    def write(variable: Any, value: Any) -> None:
        if not is_drop(variable):
            environment[variable] = value if uses[variable] == 1 else _settled(value)

    for variable, argument in zip(jaxpr.invars, arguments, strict=True):
        write(variable, argument)
    for equation in jaxpr.eqns:
        operands = [read(atom) for atom in equation.invars]
        if any(isinstance(operand, WeightView) for operand in operands):
            results = _with_weights(equation, operands, handler)
        elif equation.primitive.name in MOVES and isinstance(operands[0], Waiting):
            results = [operands[0].moved(equation)]
        else:
            results = bind_equation(equation, [_settled(operand) for operand in operands])
        for variable, result in zip(equation.outvars, results, strict=True):
            write(variable, result)
    return [_settled(read(atom)) for atom in jaxpr.outvars]


def _with_weights(equation: JaxprEqn, operands: list[Any], handler: Handler) -> list[Any]:
    primitive, params = equation.primitive.name, equation.params
    which = [index for index, operand in enumerate(operands) if isinstance(operand, WeightView)]
    if len(which) == 1:
        view = operands[which[0]]
        if primitive == "split" and (parts := _split(params, view)) is not None:
            return parts
        if len(operands) == 1 and (carried := carry(primitive, params, view)) is not None:
            return [carried]
        if len(operands) == 2 and (site := match_site(equation, which[0], view, handler.examples)) is not None:
            x = operands[1 - which[0]]
            # The epsilon that is added to a variance is a plain number.
            return [handler.meet(site, x if isinstance(x, (jax.Array, Waiting)) else jnp.asarray(x))]
    if primitive in CALLS:
        inner, constants = close(params[CALLS[primitive]])
        return _run(inner, constants, operands, handler)
    if primitive in CHECKPOINTS:
        if handler.keeps_checkpoints:
            return _run(*close(params["jaxpr"]), operands, handler)
        return _checkpoint(params, operands, handler)
    if primitive == "scan" and (entered := _scan(params, operands, handler)) is not None:
        return entered
    return bind_equation(equation, [_materialise(operand, handler) for operand in operands])


def carry(primitive: str, params: dict[str, Any], view: WeightView) -> WeightView | None:
    """The weight after a layout operation, or None where it is none or the atoms do not survive it."""
    match primitive:
        case "transpose":
            return view.transpose(_ints(params["permutation"]))
        case "reshape":
            return None if params["dimensions"] is not None else view.reshape(_ints(params["new_sizes"]))
        case "squeeze":
            return view.squeeze(_ints(params["dimensions"]))
        case "broadcast_in_dim":
            return view.broadcast(_ints(params["shape"]), _ints(params["broadcast_dimensions"]))
        case "expand_dims":
            kept = [i for i in range(len(view.sizes) + len(params["dimensions"])) if i not in params["dimensions"]]
            shape = [1] * (len(kept) + len(params["dimensions"]))
            for position, size in zip(kept, view.sizes, strict=True):
                shape[position] = size
            return view.broadcast(shape, kept)
        case "convert_element_type":
            return view.cast(params["new_dtype"])
        case "rev":
            return view.flip(_ints(params["dimensions"]))
        case "slice":
            strides = params["strides"]
            return view.slice(
                _ints(params["start_indices"]),
                _ints(params["limit_indices"]),
                None if strides is None else _ints(strides),
            )
        case "copy" | "copy_p":
            return view
        case _:
            return None


def _split(params: dict[str, Any], view: WeightView) -> list[Any] | None:
    """A fused weight taken apart: one window for each part."""
    parts, start = [], [0] * len(view.sizes)
    for size in _ints(params["sizes"]):
        limit = list(view.sizes)
        limit[params["axis"]] = start[params["axis"]] + size
        parts.append(view.slice(start, limit, None))
        start[params["axis"]] += size
    return None if None in parts else parts


def _ints(values: Sequence[Any]) -> tuple[int, ...]:
    """Equations hold numpy integers beside plain ones."""
    return tuple(int(value) for value in values)


def match_site(
    equation: JaxprEqn, index: int, view: WeightView, examples: Callable[[Any], ExampleAxis | None]
) -> Site | None:
    """The site, if an equation with a weight as operand `index` is one."""
    activation, result = equation.invars[1 - index], equation.outvars[0]
    x, y = _operand(activation.aval), _operand(result.aval)
    for kind in SITES:
        if (site := kind.match(equation.primitive.name, equation.params, index, view, x, y)) is not None:
            return site.at(examples(activation), examples(result))
    return None


def _operand(value: Any) -> Operand:
    return Operand(tuple(value.shape), value.dtype)


def _apart(operands: Sequence[Any]) -> tuple[list[Any], Callable[[Sequence[Any]], list[Any]]]:
    """The arrays among the operands, and how to put them back among the views."""
    arrays = [operand for operand in operands if not isinstance(operand, WeightView)]

    def merge(values: Sequence[Any]) -> list[Any]:
        remaining = iter(values)
        return [operand if isinstance(operand, WeightView) else next(remaining) for operand in operands]

    return arrays, merge


def _checkpoint(params: dict[str, Any], operands: Sequence[Any], handler: Handler) -> list[Any]:
    inner, constants = close(params["jaxpr"])
    arrays, merge = _apart([_settled(operand) for operand in operands])
    with handler.body(loop=False) as begin:

        def body(*values: Any) -> list[Any]:
            begin()
            return [_materialise(r, handler) for r in _run(inner, constants, merge(values), handler)]

        return jax.checkpoint(body, policy=params.get("policy"), prevent_cse=params.get("prevent_cse", True))(*arrays)


def _scan(params: dict[str, Any], operands: Sequence[Any], handler: Handler) -> list[Any] | None:
    num_constants, num_carry = scan_sizes(params)
    # Weights that are carried or scanned over change from step to step: they can only be arrays.
    enters = [
        index < num_constants and isinstance(operand, WeightView) and handler.enters_loops(operand.path)
        for index, operand in enumerate(operands)
    ]
    if not any(enters):
        return None
    operands = [o if enter else _materialise(o, handler) for o, enter in zip(operands, enters, strict=True)]
    constants, rest = operands[:num_constants], operands[num_constants:]
    arrays, merge = _apart(constants)
    inner, inner_constants = close(params["jaxpr"])
    with handler.body(loop=True) as begin:

        def step(carry: list[Any], x: list[Any]) -> tuple[list[Any], list[Any]]:
            begin()
            results = _run(inner, inner_constants, [*merge(arrays), *carry, *x], handler)
            results = [_materialise(result, handler) for result in results]
            return results[:num_carry], results[num_carry:]

        carry, stacked = jax.lax.scan(
            step,
            rest[:num_carry],
            rest[num_carry:],
            length=params["length"],
            reverse=params["reverse"],
            unroll=params["unroll"],
        )
    return [*carry, *stacked]
