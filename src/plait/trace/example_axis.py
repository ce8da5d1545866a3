"""Which axis of every intermediate value runs over examples.

The program is traced twice, with two batch sizes: the axis whose length follows the batch is the one. No rule for any
primitive is needed, and a model may move the axis wherever it likes (a vmapped `weight @ x` puts it last).
"""

from typing import Any

from plait._compat import ClosedJaxpr, Jaxpr, Literal, close


class ExampleAxes:
    """Axis over examples of the variables of a jaxpr and of all jaxprs nested in it."""

    def __init__(self, num_examples: int):
        self.num_examples = num_examples
        self._axes: dict[int, int | None] = {}
        self._keep: list[Any] = []

    def of(self, variable: Any) -> int | None:
        return self._axes.get(id(variable))

    def note(self, variable: Any, axis: int | None) -> None:
        # A jaxpr that is called twice has one set of variables: where its calls disagree, nothing is known.
        if id(variable) in self._axes and self._axes[id(variable)] != axis:
            axis = None
        self._axes[id(variable)] = axis
        self._keep.append(variable)


def example_axes(program: ClosedJaxpr, larger: ClosedJaxpr, num_examples: int, more_examples: int) -> ExampleAxes:
    """Compare two traces of the same program, with different numbers of examples."""
    axes = ExampleAxes(num_examples)
    _compare(program.jaxpr, larger.jaxpr, axes, (num_examples, more_examples))
    return axes


def _compare(first: Jaxpr, second: Jaxpr, axes: ExampleAxes, sizes: tuple[int, int]) -> None:
    names = [[equation.primitive.name for equation in jaxpr.eqns] for jaxpr in (first, second)]
    if names[0] != names[1]:
        raise ValueError(
            "the model's program changes with the batch size, so it cannot be seen which axis of its intermediate "
            f"values runs over examples (it was traced with {sizes[0]} and with {sizes[1]} examples). Pass a function "
            "of one example through `apply=jax.vmap(...)`, or use an estimator that draws one weight per call"
        )
    for one, other in zip((*first.invars, *first.constvars), (*second.invars, *second.constvars), strict=True):
        axes.note(one, _axis(one, other, sizes))
    for equation, counterpart in zip(first.eqns, second.eqns, strict=True):
        for one, other in zip((*equation.invars, *equation.outvars), (*counterpart.invars, *counterpart.outvars), strict=True):
            if not isinstance(one, Literal):
                axes.note(one, _axis(one, other, sizes))
        for name, value in equation.params.items():
            for inner, twin in zip(_jaxprs(value), _jaxprs(counterpart.params[name]), strict=True):
                _compare(inner, twin, axes, sizes)


def _axis(one: Any, other: Any, sizes: tuple[int, int]) -> int | None:
    shapes = (getattr(one.aval, "shape", ()), getattr(other.aval, "shape", ()))
    if len(shapes[0]) != len(shapes[1]):
        return None
    differing = [axis for axis, pair in enumerate(zip(*shapes, strict=True)) if pair[0] != pair[1]]
    return differing[0] if len(differing) == 1 and (shapes[0][differing[0]], shapes[1][differing[0]]) == sizes else None


def _jaxprs(value: Any) -> list[Jaxpr]:
    values = value if isinstance(value, (tuple, list)) else [value]
    return [close(v)[0] for v in values if isinstance(v, (ClosedJaxpr, Jaxpr))]
