"""The pass that finds which units of one layer feed which rows of the next.

The program runs once, equation by equation, on inputs that do not matter, with the weights as they are. Beside each
value goes what `Value` knows of it. A unit all of whose weights are zero has entries that do not depend on the inputs:
its slice of every value, up to the layers that read it, is the constant that must go into their biases when it is cut.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from plait._compat import Jaxpr, JaxprEqn, Literal, bind_equation, close
from plait._typing import Array
from plait.site import ConvolutionSite, DenseSite, LookupSite, WeightView
from plait.site.base import MatrixSite
from plait.sparsity.unitwise import follow
from plait.sparsity.value import Ledger, Line, Meeting, Units, Value, merged
from plait.trace import Program, carry, match_site
from plait.trace.interpret import CALLS, CHECKPOINTS

NESTED = {**CALLS, **dict.fromkeys(CHECKPOINTS, "jaxpr"), "custom_jvp_call": "call_jaxpr"}
CUSTOM_VJP = ("custom_vjp_call", "custom_vjp_call_jaxpr")


class Follower:
    """Runs a program whose first inputs are arrays of the model."""

    def __init__(self, leaves: Mapping[str, Array], live: Mapping[str, np.ndarray]):
        self.leaves = leaves
        self.live = live
        """By weight, which entries are not zero for good."""
        self.ledger = Ledger()

    def run(self, program: Program, inputs: Sequence[Any]) -> Ledger:
        """Follow everything; what leaves the program is its outputs."""
        views = [WeightView.of(name, tuple(leaf.shape), leaf.dtype) for name, leaf in self.leaves.items()]
        given = [Value(array, False) for array in inputs]
        constants = [self._constant(value) for value in program.jaxpr.consts]
        for result in self._run(program.jaxpr.jaxpr, constants, [*views, *given]):
            value = self._value(result)
            if value.units is not None:
                self.ledger.keep(value.units.layer, "its units are outputs of the model")
            self.ledger.use(frozenset[Line]().union(*value.lines), None)
            self.ledger.outputs |= value.origins
        return self.ledger

    def _constant(self, value: Any) -> Value:
        return Value(value, True, lines=tuple(frozenset[Line]() for _ in np.shape(value)))

    def _run(self, jaxpr: Jaxpr, constants: Sequence[Any], arguments: Sequence[Any]) -> list[Any]:
        environment: dict[Any, Any] = {}
        read_by = [*jaxpr.outvars, *(atom for equation in jaxpr.eqns for atom in equation.invars)]
        uses = Counter(atom for atom in read_by if not isinstance(atom, Literal))

        def read(atom: Any) -> Any:
            return self._constant(atom.val) if isinstance(atom, Literal) else environment[atom]

        def write(variables: Sequence[Any], values: Sequence[Any]) -> None:
            for variable, value in zip(variables, values, strict=True):
                if isinstance(value, Value) and uses[variable] > 1:
                    # Two uses: what is added at one of them is no bias of the layer.
                    value = replace(value, output_of=None)
                environment[variable] = value

        write(jaxpr.constvars, constants)
        write(jaxpr.invars, arguments)
        for equation in jaxpr.eqns:
            write(equation.outvars, self._equation(equation, [read(atom) for atom in equation.invars]))
        return [read(atom) for atom in jaxpr.outvars]

    def _equation(self, equation: JaxprEqn, operands: list[Any]) -> list[Any]:
        name, params = equation.primitive.name, equation.params
        which = [index for index, operand in enumerate(operands) if isinstance(operand, WeightView)]
        if len(which) == 1:
            view = operands[which[0]]
            if len(operands) == 1 and (carried := carry(name, params, view)) is not None:
                return [carried]
            if len(operands) == 2:
                site = match_site(equation, which[0], view, lambda variable: None)
                if isinstance(site, MatrixSite):
                    return [self._meet(site, equation, self._value(operands[1 - which[0]]))]
        if name in NESTED or name in CUSTOM_VJP:
            key = NESTED.get(name) or ("call_jaxpr" if "call_jaxpr" in params else "fun_jaxpr")
            inner, constants = close(params[key])
            return self._run(inner, [self._constant(value) for value in constants], operands)
        values = [self._value(operand) for operand in operands]
        arrays = bind_equation(equation, [value.array for value in values])
        if len(arrays) == 1:
            return [replace(follow(equation, values, self.ledger), array=arrays[0])]
        stopped = self.ledger.stop(values, f"`{name}` does not keep its units apart")
        return [replace(stopped, array=array) for array in arrays]

    def _value(self, operand: Any) -> Value:
        if not isinstance(operand, WeightView):
            return operand
        view, leaf = operand, self.leaves[operand.path]
        array = view.show(view.cut(leaf))
        where = [_whole_axis(view, axis) for axis in range(len(view.sizes))]
        lines = tuple(frozenset[Line]() if axis is None else frozenset({Line(view.path, axis)}) for axis in where)
        self.ledger.use((Line(view.path, axis) for axis in range(leaf.ndim) if axis not in where), None)
        even = frozenset(axis for axis, dim in enumerate(view.dims) if not dim)
        return Value(array, True, lines=lines, even=even, leaf=view.path)

    def _meet(self, site: MatrixSite, equation: JaxprEqn, x: Value) -> Value:
        """A layer: it reads the units of x along its rows, and its columns are units of its own."""
        view, stored = site.view, self.leaves[site.view.path]
        weight = view.show(view.cut(stored))
        array = bind_equation(equation, [weight, x.array] if site.index == 0 else [x.array, weight])[0]
        rows, columns, y_axis = self._axes(site, x)
        path = view.path
        if x.units is not None and rows is None:
            self.ledger.keep(x.units.layer, f"{path!r} does not read its units along an axis of its own")
        self.ledger.use(frozenset[Line]().union(*x.lines), None)
        others = [axis for axis in range(stored.ndim) if axis not in (rows, columns)]
        self.ledger.use((Line(path, axis) for axis in others), None)
        if rows is not None and x.units is not None:
            self.ledger.use([Line(path, rows)], x.units)
            self.ledger.meetings.append(Meeting(path, site, x, x.units, rows, columns, y_axis))
        if columns is None:
            self.ledger.keep(path, "its columns are in groups, in windows, or on several axes")
            return replace(merged([x]), array=array, origins=frozenset({path}))
        size = stored.shape[columns]
        self.ledger.sizes[path] = size
        live = self.live[path]
        if rows is not None and x.units is not None:
            live = np.take(live, np.flatnonzero(~x.units.steady[x.units.index]), axis=rows)
        steady = np.logical_not(np.moveaxis(live, columns, 0).reshape(size, -1).any(axis=1))
        units = Units(path, y_axis, np.arange(size), steady)
        self.ledger.use([Line(path, columns)], units)
        return Value(array, False, units, origins=frozenset({path}), output_of=path)

    def _axes(self, site: MatrixSite, x: Value) -> tuple[int | None, int | None, int]:
        """The stored axes that the units of x and its own run along, and where its own lie in its output."""
        view, tag = site.view, None if x.units is None else x.units.axis
        rows = columns = None
        y_axis = -1
        if isinstance(site, DenseSite) and site.groups == 1:
            pairs = dict(zip(site.x_contracted, site.contracted, strict=True))
            rows = None if tag not in pairs else _whole_axis(view, pairs[tag])
            if len(site.free) == 1:
                columns, y_axis = _whole_axis(view, site.free[0]), 0 if site.index == 0 else len(site.y.shape) - 1
        elif isinstance(site, ConvolutionSite) and site.groups == 1:
            numbers = site.params["dimension_numbers"]
            rows = _whole_axis(view, numbers.rhs_spec[1]) if tag == numbers.lhs_spec[1] else None
            columns, y_axis = _whole_axis(view, numbers.rhs_spec[0]), numbers.out_spec[1]
        elif isinstance(site, LookupSite) and len(site.offsets) == len(site.column_axes) == 1:
            columns, y_axis = _whole_axis(view, site.column_axes[0]), site.offsets[0]
        return rows, columns, y_axis


def _whole_axis(view: WeightView, seen: int) -> int | None:
    """The stored axis that a seen axis is, entry by entry."""
    dim = view.dims[seen]
    if view.window is not None or len(dim) != 1 or dim[0] in view.flipped:
        return None
    return dim[0].axis if dim[0].size == view.shape[dim[0].axis] == view.sizes[seen] else None


def concrete(shape: Any) -> Any:
    """Some value of an input's shape and dtype."""
    if jnp.issubdtype(shape.dtype, jax.dtypes.prng_key):
        return jnp.broadcast_to(jax.random.key(0), shape.shape)
    return jnp.zeros(shape.shape, shape.dtype)
