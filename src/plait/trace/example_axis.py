"""Where the examples lie in every intermediate value.

The program is traced twice, with two batch sizes: the axis whose length follows the batch is the one. No rule for any
primitive is needed, and a model may move the axis wherever it likes (a vmapped `weight @ x` puts it last).

The lengths alone do not tell the order in which a merged axis holds its examples ([B, T] and [T, B] both become
[B T]): reshapes decide that, and what is computed from their results inherits it. Where the order cannot be known, the
examples are lost, and a site that needs them says so.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from plait._compat import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, close
from plait.site.base import LOST, ExampleAxis

Sizes = tuple[int, int]
"""The two numbers of examples."""


class ExampleAxes:
    """Examples of the variables of a jaxpr and of all jaxprs nested in it."""

    def __init__(self, num_examples: int):
        self.num_examples = num_examples
        self._axes: dict[int, ExampleAxis | None] = {}
        self._keep: list[Any] = []

    def of(self, variable: Any) -> ExampleAxis | None:
        """None where a value has no axis over examples."""
        return self._axes.get(id(variable))

    def note(self, variable: Any, axis: ExampleAxis | None) -> None:
        # A jaxpr that is called twice has one set of variables: where its calls disagree, nothing is known.
        if id(variable) in self._axes and self._axes[id(variable)] != axis:
            axis = LOST
        self._axes[id(variable)] = axis
        self._keep.append(variable)


def example_axes(program: ClosedJaxpr, larger: ClosedJaxpr, num_examples: int, more_examples: int) -> ExampleAxes:
    """Compare two traces of the same program, with different numbers of examples."""
    axes = ExampleAxes(num_examples)
    inputs = program.jaxpr.invars
    _compare(program.jaxpr, larger.jaxpr, [None] * len(inputs), axes, (num_examples, more_examples))
    return axes


Known = Sequence[ExampleAxis | None]


def _compare(first: Jaxpr, second: Jaxpr, operands: Known, axes: ExampleAxes, sizes: Sizes) -> Known:
    """Note the variables of a jaxpr, given what is known of its operands; returns what is known of its results."""
    names = [[equation.primitive.name for equation in jaxpr.eqns] for jaxpr in (first, second)]
    if names[0] != names[1]:
        raise ValueError(
            "the model's program changes with the batch size, so it cannot be seen which axis of its intermediate "
            f"values runs over examples (it was traced with {sizes[0]} and with {sizes[1]} examples). Pass a function "
            "of one example through `apply=jax.vmap(...)`, or use an estimator that draws one weight per call"
        )
    found: dict[Var, ExampleAxis | None] = {}

    def note(variable: Var, axis: ExampleAxis | None) -> None:
        found[variable] = axis
        axes.note(variable, axis)

    def known(variables: Sequence[Any]) -> Known:
        return [None if isinstance(variable, Literal) else found[variable] for variable in variables]

    for one, other in zip(first.constvars, second.constvars, strict=True):
        note(one, _inherited(_by_length(one, other, sizes), ()))
    for one, other, operand in zip(first.invars, second.invars, operands, strict=True):
        note(one, _inherited(_by_length(one, other, sizes), [operand]))
    for equation, counterpart in zip(first.eqns, second.eqns, strict=True):
        sources = known(equation.invars)
        results: Known = ()
        for inner, twin in _nested(equation, counterpart):
            results = _compare(inner, twin, sources, axes, sizes)
        for index, (one, other) in enumerate(zip(equation.outvars, counterpart.outvars, strict=True)):
            axis = _by_length(one, other, sizes)
            if equation.primitive.name == "reshape":
                axis = _reshaped(axis, sources[0], equation)
            else:
                axis = _inherited(axis, [results[index]] if len(results) == len(equation.outvars) else sources)
            note(one, axis)
    return known(first.outvars)


def _shape(variable: Any) -> tuple[int, ...]:
    return tuple(getattr(variable.aval, "shape", ()))


def _by_length(one: Any, other: Any, sizes: Sizes) -> ExampleAxis | None:
    """The axis that follows the batch, and how many entries it has for each example, in an order still to be seen."""
    shapes = _shape(one), _shape(other)
    if shapes[0] == shapes[1]:
        return None
    if len(shapes[0]) != len(shapes[1]):
        return LOST
    differing = [axis for axis, pair in enumerate(zip(*shapes, strict=True)) if pair[0] != pair[1]]
    repeats = shapes[1][differing[0]] - shapes[0][differing[0]]
    found = len(differing) == 1 and shapes[0][differing[0]] == sizes[0] * repeats
    return ExampleAxis(differing[0], repeats) if found else LOST


def _inherited(axis: ExampleAxis | None, sources: Known) -> ExampleAxis | None:
    """An axis whose order is that of the values it comes from."""
    if axis is None or axis.repeats <= 1:
        return axis
    inner = {source.inner for source in sources if source is not None and source.repeats == axis.repeats}
    return replace(axis, inner=inner.pop()) if len(inner) == 1 else LOST


def _reshaped(axis: ExampleAxis | None, source: ExampleAxis | None, equation: JaxprEqn) -> ExampleAxis | None:
    """An axis after a reshape: in memory, the next example still lies as far behind."""
    if axis is None or source is None or LOST in (axis, source) or equation.params["dimensions"] is not None:
        return None if axis is None else LOST
    step = source.inner * math.prod(_shape(equation.invars[0])[source.axis + 1 :])
    stride = math.prod(_shape(equation.outvars[0])[axis.axis + 1 :])
    inner = step // stride
    return replace(axis, inner=inner) if inner * stride == step and axis.repeats % inner == 0 else LOST


WITHOUT_WEIGHTS = ("while", "cond")
"""Primitives whose bodies never see a random weight, so that nothing need be known inside them."""


def _nested(equation: JaxprEqn, counterpart: JaxprEqn) -> list[tuple[Jaxpr, Jaxpr]]:
    """The jaxprs in which an equation's operands are inputs one for one."""
    if equation.primitive.name in WITHOUT_WEIGHTS:
        return []
    return [
        pair
        for name, value in equation.params.items()
        for pair in zip(_jaxprs(value), _jaxprs(counterpart.params[name]), strict=True)
        if len(pair[0].invars) == len(equation.invars)
    ]


def _jaxprs(value: Any) -> list[Jaxpr]:
    values = value if isinstance(value, (tuple, list)) else [value]
    return [close(v)[0] for v in values if isinstance(v, (ClosedJaxpr, Jaxpr))]
