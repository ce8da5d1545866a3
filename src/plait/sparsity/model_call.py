"""All arrays of a model by name: weights, buffers, and what an `eqx.nn.State` among its inputs holds.

Following the program needs them as inputs of it, and cutting them needs to put them back where they were.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import numpy as np

from plait._typing import Array
from plait.model import BayesianModel
from plait.model.adapter import Skeleton
from plait.sparsity.follow import Follower, concrete
from plait.sparsity.value import Ledger
from plait.trace import Program, trace


@dataclass(frozen=True)
class ModelCall:
    """A model, and inputs to run it on."""

    skeleton: Skeleton
    weights: dict[str, Array]
    """Their means."""
    x: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @staticmethod
    def of(bnn: BayesianModel, x: Any = None, args: tuple[Any, ...] = ()) -> "ModelCall":
        """With the inputs it was built with, or others; their values matter only for a state."""
        traced_x, traced_args, kwargs = bnn.traced.tree()
        given = (traced_x if x is None else x, args or traced_args, kwargs)
        x, args, kwargs = jax.tree.map(_with_values, given)
        return ModelCall(bnn.skeleton, bnn.draw_weights(None), x, args, kwargs)

    def leaves(self) -> dict[str, Array]:
        """Every array that may be cut."""
        buffers = {f"buffer {i}": b for i, b in enumerate(self.skeleton.buffers) if b is not None}
        return self.weights | buffers | {name: leaf for name, leaf in self._states() if eqx.is_array(leaf)}

    def _states(self) -> list[tuple[str, Any]]:
        return [
            (f"input {position} {index}", leaf)
            for position, argument in enumerate(self.args, 1)
            if isinstance(argument, eqx.nn.State)
            for index, leaf in enumerate(jax.tree.leaves(argument))
        ]

    def with_leaves(self, leaves: Mapping[str, Array]) -> "ModelCall":
        """The same call with other arrays."""
        buffers = tuple(leaves.get(f"buffer {i}", b) for i, b in enumerate(self.skeleton.buffers))
        args = list(self.args)
        for position, argument in enumerate(self.args, 1):
            if isinstance(argument, eqx.nn.State):
                flat, structure = jax.tree.flatten(argument)
                values = [leaves.get(f"input {position} {index}", leaf) for index, leaf in enumerate(flat)]
                args[position - 1] = jax.tree.unflatten(structure, values)
        weights = {path: leaves[path] for path in self.weights}
        return replace(self, skeleton=replace(self.skeleton, buffers=buffers), weights=weights, args=tuple(args))

    def outputs(self) -> Any:
        """What the model returns, without a state."""
        outputs = self.skeleton(self.weights, self.x, *self.args, **self.kwargs)
        is_state = lambda value: isinstance(value, eqx.nn.State)  # noqa: E731
        return jax.tree.map(lambda value: None if is_state(value) else value, outputs, is_leaf=is_state)

    def program(self) -> Program:
        """The forward pass, its first inputs all arrays that may be cut."""
        leaves = self.leaves()
        stateless = tuple(None if isinstance(argument, eqx.nn.State) else argument for argument in self.args)

        def forward(values: dict[str, Array], x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            merged = tuple(old if new is None else new for old, new in zip(self.args, args, strict=True))
            return replace(self, x=x, args=merged, kwargs=kwargs).with_leaves(values).outputs()

        return trace(forward, leaves, (self.x, stateless, self.kwargs))


def _with_values(leaf: Any) -> Any:
    return concrete(leaf) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf


def follow_units(call: ModelCall, live: Mapping[str, np.ndarray] | None = None) -> Ledger:
    """Which units can be followed, and how far; `live` says which entries of the arrays are not zero for good."""
    leaves, program = call.leaves(), call.program()
    if live is None:
        live = {name: np.ones(leaf.shape, bool) for name, leaf in leaves.items()}
    return Follower(leaves, live).run(program, program.inputs)
