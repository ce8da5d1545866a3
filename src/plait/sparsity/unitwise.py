"""How units pass through one equation: a rule for each primitive that keeps them apart, and none for the others.

A rule gives what is known of the result. Where units cannot be followed it says why, and their layer stays whole.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from plait._compat import JaxprEqn
from plait.sparsity.value import Ledger, Units, Value, merged

# fmt: off
ELEMENTWISE = frozenset((
    "abs", "acos", "acosh", "add", "add_any", "and", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil",
    "clamp", "convert_element_type", "copy", "copy_p", "cos", "cosh", "digamma", "div", "eq", "erf", "erf_inv",
    "erfc", "exp", "exp2", "expm1", "floor", "ge", "gt", "integer_pow", "is_finite", "le", "lgamma", "log",
    "log1p", "logistic", "lt", "max", "min", "mul", "ne", "neg", "nextafter", "not", "or", "pow",
    "reduce_precision", "rem", "round", "rsqrt", "select_n", "sign", "sin", "sinh", "sqrt", "square", "sub",
    "tan", "tanh", "xor",
))
# fmt: on

ONE_UNIT = "its one unit is spread over an axis"
RESIDUAL = "its units meet those of another layer, as in a residual connection"


def follow(equation: JaxprEqn, operands: list[Value], ledger: Ledger) -> Value:
    """What is known of an equation's (first) result."""
    name = equation.primitive.name
    rule = _elementwise if name in ELEMENTWISE else RULES.get(name)
    if rule is None and name.startswith("reduce_window"):
        rule = _window
    if rule is not None:
        return rule(equation, operands, ledger)
    return ledger.stop(operands, f"`{name}` does not keep its units apart")


def _shape(equation: JaxprEqn) -> tuple[int, ...]:
    return tuple(getattr(equation.outvars[0].aval, "shape", ()))


def _elementwise(equation: JaxprEqn, operands: list[Value], ledger: Ledger) -> Value:
    shape = _shape(equation)
    rank = len(shape)
    if any(value.units is not None and value.shape[value.units.axis] != shape[value.units.axis] for value in operands):
        return ledger.stop(operands, ONE_UNIT)
    operands = [_stretched(value, shape, ledger) for value in operands]
    full = [value for value in operands if len(value.shape) == rank and rank > 0]
    result = merged(operands)
    even = frozenset(range(rank)).intersection(*(value.even for value in full))
    tagged = [value for value in full if value.units is not None]
    if not tagged:
        if result.fixed:
            lines = tuple(
                frozenset().union(*(value.lines[axis] for value in full if value.lines)) for axis in range(rank)
            )
            return replace(result, even=even, lines=lines)
        return replace(ledger.stop(operands, ""), even=even)
    units = tagged[0].units
    assert units is not None
    if not all(value.units is not None and value.units.same(units) for value in tagged):
        return ledger.stop(operands, RESIDUAL)
    others = [value for value in operands if value.units is None]
    if any(len(v.shape) == rank and not (units.axis in v.even or (v.lines and v.lines[units.axis])) for v in others):
        return ledger.stop(operands, "its units meet values that are neither theirs nor the same for all of them")
    steady = _all_steady(tagged)
    for value in others:
        for axis, lines in enumerate(value.lines):
            ledger.use(lines, units if axis == units.axis else None)
        if not value.fixed:
            # A unit that is zero stays so, whatever it is multiplied by.
            stays = tagged[0].zero_units() if equation.primitive.name == "mul" else np.zeros_like(steady)
            steady = steady & stays
    _note_bias(equation, tagged, others, units, ledger)
    return replace(result, units=replace(units, steady=steady), even=even)


def _stretched(value: Value, shape: tuple[int, ...], ledger: Ledger) -> Value:
    """An operand of an elementwise function, its axes of size one as long as those of the result."""
    longer = {axis for axis, size in enumerate(value.shape) if size == 1 != shape[axis]}
    if not longer:
        return value
    ledger.use((line for axis in longer if value.lines for line in value.lines[axis]), None)
    lines = tuple(frozenset() if axis in longer else line for axis, line in enumerate(value.lines))
    return replace(value, lines=lines, even=value.even | longer)


def _note_bias(equation: JaxprEqn, tagged: list[Value], others: list[Value], units: Units, ledger: Ledger) -> None:
    if equation.primitive.name not in ("add", "add_any") or len(tagged) != 1 or len(others) != 1:
        return
    layer, bias = tagged[0].output_of, others[0].leaf
    whole = layer == units.layer and np.array_equal(units.index, np.arange(len(units.index)))
    if whole and layer is not None and bias is not None and len(others[0].lines[units.axis]) == 1:
        ledger.biases[layer] = next(iter(others[0].lines[units.axis]))


def _broadcast(equation: JaxprEqn, operands: list[Value], ledger: Ledger) -> Value:
    (value, *_), shape = operands, _shape(equation)
    where = [int(axis) for axis in equation.params["broadcast_dimensions"]]
    axes = {axis: new for axis, new in enumerate(where) if value.shape[axis] == shape[new]}
    if value.units is not None and value.units.axis not in axes:
        return ledger.stop(operands, ONE_UNIT)
    for axis, lines in enumerate(value.lines):
        if axis not in axes:
            ledger.use(lines, None)
    return value.moved(axes, shape, even=set(range(len(shape))) - set(axes.values()))


def _transpose(equation: JaxprEqn, operands: list[Value], ledger: Ledger) -> Value:
    del ledger
    permutation = [int(axis) for axis in equation.params["permutation"]]
    return operands[0].moved({old: new for new, old in enumerate(permutation)}, _shape(equation))


def _without(equation: JaxprEqn, operands: list[Value], ledger: Ledger) -> Value:
    """Sums, maxima and the like over some axes, and axes of size one taken away."""
    (value, *_), shape = operands, _shape(equation)
    gone = {int(axis) for axis in equation.params.get("axes", equation.params.get("dimensions", ()))}
    if value.units is not None and value.units.axis in gone:
        return ledger.stop(operands, f"`{equation.primitive.name}` takes its units together")
    kept = [axis for axis in range(len(value.shape)) if axis not in gone]
    ledger.use((line for axis, lines in enumerate(value.lines) if axis in gone for line in lines), None)
    moved = value.moved({old: new for new, old in enumerate(kept)}, shape)
    return moved if equation.primitive.name == "squeeze" else replace(moved, output_of=None)


def _expand(equation: JaxprEqn, operands: list[Value], ledger: Ledger) -> Value:
    del ledger
    shape, new = _shape(equation), {int(axis) for axis in equation.params["dimensions"]}
    kept = [axis for axis in range(len(shape)) if axis not in new]
    return operands[0].moved(dict(enumerate(kept)), shape, even=new)


def _reshape(equation: JaxprEqn, operands: list[Value], ledger: Ledger) -> Value:
    (value, *_), shape = operands, _shape(equation)
    axes: dict[int, int] = {}
    even = {axis for axis, size in enumerate(shape) if size == 1}
    units = None
    for old, new in _matching_axes(value.shape, shape):
        if all(axis in value.even for axis in old):
            even |= set(new)
        if len(old) == len(new) == 1:
            axes[old[0]] = new[0]
        if value.units is not None and value.units.axis in old:
            units = _regrouped(value, old, new, shape)
    if value.units is not None and units is None:
        return ledger.stop(operands, "a reshape mixes its units with other axes")
    for axis, lines in enumerate(value.lines):
        if axis not in axes:
            ledger.use(lines, None)
    return replace(replace(value, units=None).moved(axes, shape, even), units=units)


def _matching_axes(old: tuple[int, ...], new: tuple[int, ...]) -> list[tuple[list[int], list[int]]]:
    """The least runs of axes longer than one that hold the same entries before and after a reshape."""
    left = [axis for axis, size in enumerate(old) if size != 1]
    right = [axis for axis, size in enumerate(new) if size != 1]
    groups: list[tuple[list[int], list[int]]] = []
    while left and right:
        first, second = [left.pop(0)], [right.pop(0)]
        while (a := math.prod(old[i] for i in first)) != (b := math.prod(new[i] for i in second)):
            (first if a < b else second).append((left if a < b else right).pop(0))
        groups.append((first, second))
    return groups


def _regrouped(value: Value, old: list[int], new: list[int], shape: tuple[int, ...]) -> Units | None:
    """The units after a reshape of a run of axes, where they run along one axis again."""
    assert value.units is not None
    at = old.index(value.units.axis)
    along = [len(value.units.index) if i == at else 1 for i in range(len(old))]
    labels = np.broadcast_to(value.units.index.reshape(along), [value.shape[i] for i in old])
    labels = labels.reshape([shape[i] for i in new])
    for position, axis in enumerate(new):
        index = np.moveaxis(labels, position, 0).reshape(shape[axis], -1)
        if (index == index[:, :1]).all():
            return replace(value.units, axis=axis, index=index[:, 0])
    return None


def _stays(whole: Callable[[JaxprEqn, int, int], bool]) -> Callable[[JaxprEqn, list[Value], Ledger], Value]:
    """The rule of an operation that leaves axes where they are; `whole` says whether it leaves one alone."""

    def rule(equation: JaxprEqn, operands: list[Value], ledger: Ledger) -> Value:
        value, *others = operands
        if any(other.units is not None for other in others):
            return ledger.stop(operands, f"`{equation.primitive.name}` does not keep its units apart")
        alone = [axis for axis in range(len(value.shape)) if whole(equation, axis, value.shape[axis])]
        if value.units is not None and value.units.axis not in alone:
            return ledger.stop(operands, f"`{equation.primitive.name}` takes its units together or apart")
        for axis, lines in enumerate(value.lines):
            if axis not in alone:
                ledger.use(lines, None)
        moved = value.moved({axis: axis for axis in alone}, _shape(equation))
        moved = replace(moved, output_of=None)
        if all(other.fixed for other in others):
            return moved
        units = moved.units and replace(moved.units, steady=np.zeros_like(moved.units.steady))
        return replace(moved, units=units, fixed=False)

    return rule


def _not_windowed(equation: JaxprEqn, axis: int, size: int) -> bool:
    del size
    p = equation.params
    one = [p[name][axis] for name in ("window_dimensions", "window_strides", "base_dilation", "window_dilation")]
    return one == [1, 1, 1, 1] and tuple(p["padding"][axis]) == (0, 0)


def _not_sliced(equation: JaxprEqn, axis: int, size: int) -> bool:
    p = equation.params
    stride = 1 if p["strides"] is None else p["strides"][axis]
    return (p["start_indices"][axis], p["limit_indices"][axis], stride) == (0, size, 1)


def _concatenate(equation: JaxprEqn, operands: list[Value], ledger: Ledger) -> Value:
    units, along = operands[0].units, int(equation.params["dimension"])
    same = units is not None and all(v.units is not None and v.units.same(units) for v in operands)
    if units is None or not same or units.axis == along:
        return ledger.stop(operands, "it is put together with other values")
    return replace(merged(operands), units=replace(units, steady=_all_steady(operands)))


def _all_steady(values: list[Value]) -> np.ndarray:
    """By unit, whether it is steady in all of them."""
    return np.logical_and.reduce([value.units.steady for value in values if value.units is not None])


_window = _stays(_not_windowed)

REDUCTIONS = ("sum", "max", "min", "prod", "and", "or", "xor")
CUMULATIVE = ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")

RULES: dict[str, Callable[[JaxprEqn, list[Value], Ledger], Value]] = {
    "broadcast_in_dim": _broadcast,
    "transpose": _transpose,
    "squeeze": _without,
    "expand_dims": _expand,
    "reshape": _reshape,
    "slice": _stays(_not_sliced),
    "pad": _stays(lambda equation, axis, size: tuple(equation.params["padding_config"][axis]) == (0, 0, 0)),
    "rev": _stays(lambda equation, axis, size: axis not in equation.params["dimensions"]),
    "concatenate": _concatenate,
    **{f"reduce_{name}": _without for name in REDUCTIONS},
    # Over an axis that a map has turned into one of the value's own.
    **dict.fromkeys(("argmax", "argmin", "psum", "pmax", "pmin"), _without),
    **dict.fromkeys(CUMULATIVE, _stays(lambda equation, axis, size: axis != equation.params["axis"])),
}
