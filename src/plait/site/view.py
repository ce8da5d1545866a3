"""A random weight on its way through layout operations, carried as a symbol.

Between a model's parameter and the contraction that consumes it lie transposes, reshapes, broadcasts and casts. A
`WeightView` remembers them: which atoms of the stored tensor make up each axis of the tensor as the program sees it.
It can replay them on any array of the weight's shape, and it tells a site which atoms are contracted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from plait._typing import Array
from plait.site.layout import Atom, in_order, whole_axes


@dataclass(frozen=True)
class WeightView:
    """One weight (or a window of it) as seen after layout operations."""

    path: str
    shape: tuple[int, ...]
    """Shape of the stored weight, after the window."""
    window: tuple[tuple[int, int, int], ...] | None
    """(start, limit, stride) for each axis of the stored weight, or None for all of it."""
    dims: tuple[tuple[Atom, ...], ...]
    """The atoms that make up each seen axis, outermost first; none where the axis is broadcast."""
    sizes: tuple[int, ...]
    """Size of each seen axis."""
    flipped: frozenset[Atom]
    dtype: Any

    @staticmethod
    def of(path: str, shape: tuple[int, ...], dtype: Any) -> "WeightView":
        """The weight as it is stored."""
        atoms = whole_axes(shape)
        return WeightView(path, shape, None, tuple((atom,) for atom in atoms), shape, frozenset(), jnp.dtype(dtype))

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return in_order(atom for dim in self.dims for atom in dim)

    def atoms_of(self, axes: Sequence[int]) -> tuple[Atom, ...]:
        """Atoms of some seen axes, in the order seen."""
        return tuple(atom for axis in axes for atom in self.dims[axis])

    def is_broadcast(self, axes: Sequence[int]) -> bool:
        """Whether any of the seen axes repeats the weight."""
        return any(math.prod(a.size for a in self.dims[axis]) != self.sizes[axis] for axis in axes)

    # -- layout operations: the view after the operation, or None where the atoms do not survive it -------------------

    def transpose(self, permutation: Sequence[int]) -> "WeightView":
        return replace(
            self,
            dims=tuple(self.dims[i] for i in permutation),
            sizes=tuple(self.sizes[i] for i in permutation),
        )

    def broadcast(self, shape: Sequence[int], positions: Sequence[int]) -> "WeightView":
        dims: list[tuple[Atom, ...]] = [()] * len(shape)
        for position, dim, size in zip(positions, self.dims, self.sizes, strict=True):
            # A size-one axis that is stretched keeps no atoms of more than one element, so it may go on as broadcast.
            dims[int(position)] = dim if size == shape[int(position)] else tuple(a for a in dim if a.size == 1)
        return replace(self, dims=tuple(dims), sizes=tuple(int(s) for s in shape))

    def squeeze(self, axes: Sequence[int]) -> "WeightView":
        kept = [i for i in range(len(self.sizes)) if i not in {int(a) for a in axes}]
        # Atoms of size one carry no position: drop them with their axis.
        return replace(self, dims=tuple(self.dims[i] for i in kept), sizes=tuple(self.sizes[i] for i in kept))

    def cast(self, dtype: Any) -> "WeightView | None":
        return replace(self, dtype=jnp.dtype(dtype)) if jnp.issubdtype(dtype, jnp.floating) else None

    def flip(self, axes: Sequence[int]) -> "WeightView":
        return replace(self, flipped=self.flipped ^ frozenset(self.atoms_of([int(a) for a in axes])))

    def reshape(self, sizes: Sequence[int]) -> "WeightView | None":
        if self.is_broadcast(range(len(self.sizes))):
            return None
        waiting = [atom for dim in self.dims for atom in dim if atom.size != 1]
        flipped, dims = set(self.flipped), []
        for wanted in sizes:
            dim: list[Atom] = []
            while wanted > 1:
                if not waiting:
                    return None
                atom = waiting.pop(0)
                if wanted % atom.size == 0:
                    dim.append(atom)
                    wanted //= atom.size
                elif atom.size % wanted == 0:
                    outer, inner = _split(atom, wanted)
                    if atom in flipped:
                        flipped |= {outer, inner}
                    dim.append(outer)
                    waiting.insert(0, inner)
                    wanted = 1
                else:
                    return None
            dims.append(tuple(dim))
        return replace(self, dims=tuple(dims), sizes=tuple(int(s) for s in sizes), flipped=frozenset(flipped))

    def slice(self, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int] | None) -> "WeightView | None":
        strides = strides or [1] * len(starts)
        window = list(self.window or tuple((0, size, 1) for size in self.shape))
        shape, dims, sizes = list(self.shape), list(self.dims), list(self.sizes)
        for axis, (start, limit, stride) in enumerate(zip(starts, limits, strides, strict=True)):
            if (start, limit, stride) == (0, self.sizes[axis], 1):
                continue
            dim, length = self.dims[axis], -(-(limit - start) // stride)
            sizes[axis] = length
            if self.is_broadcast([axis]):
                # Every place along it shows the same entries.
                continue
            # Only a whole stored axis can be windowed, and it must not have been flipped on the way.
            if len(dim) != 1 or dim[0].size != self.shape[dim[0].axis] or dim[0] in self.flipped:
                return None
            native = dim[0].axis
            first, _, step = window[native]
            window[native] = (first + start * step, first + (limit - 1) * step + 1, stride * step)
            shape[native] = length
            dims[axis] = (Atom(native, length, 1),)
        return replace(self, window=tuple(window), shape=tuple(shape), dims=tuple(dims), sizes=tuple(sizes))

    # -- replay -------------------------------------------------------------------------------------------------------

    def cut(self, stored: Array) -> Array:
        """The window of a stored array."""
        if self.window is None:
            return stored
        starts, limits, strides = zip(*self.window, strict=True)
        return jax.lax.slice(stored, starts, limits, strides)

    def show(self, tensor: Array, *, cast: bool = True) -> Array:
        """An array of the (windowed) weight's shape, as the program sees it."""
        order = tuple(atom for dim in self.dims for atom in dim)
        kept = in_order(order)
        flips = [i for i, atom in enumerate(kept) if atom in self.flipped]
        plain = tuple(math.prod(a.size for a in dim) if dim else 1 for dim in self.dims)
        if order != kept or flips:
            tensor = tensor.reshape(tuple(atom.size for atom in kept))
            tensor = jnp.flip(tensor, flips) if flips else tensor
            tensor = jnp.transpose(tensor, tuple(kept.index(atom) for atom in order))
        if tensor.shape != plain:
            tensor = tensor.reshape(plain)
        if plain != self.sizes:
            tensor = jnp.broadcast_to(tensor, self.sizes)
        return tensor.astype(self.dtype) if cast else tensor

    def show_side(self, values: Array, atoms: Sequence[Atom], order: Sequence[Atom]) -> Array:
        """[r, side] factor values, the side indexed by `in_order(atoms)`, as [r, *sizes of the atoms in `order`]."""
        stored = in_order(atoms)
        values = values.reshape(values.shape[:1] + tuple(atom.size for atom in stored))
        flips = [1 + i for i, atom in enumerate(stored) if atom in self.flipped]
        values = jnp.flip(values, flips) if flips else values
        return jnp.transpose(values, (0, *(1 + stored.index(atom) for atom in order)))

    def stored_index(self, order: Sequence[Atom]) -> np.ndarray:
        """For a side flattened in the order seen, where each of its entries lies in the side's stored order."""
        with jax.ensure_compile_time_eval():
            stored = jnp.arange(math.prod(atom.size for atom in order))[None]
            return np.asarray(self.show_side(stored, order, order)).reshape(-1)


def _split(atom: Atom, outer_size: int) -> tuple[Atom, Atom]:
    inner_size = atom.size // outer_size
    return Atom(atom.axis, outer_size, atom.stride * inner_size), Atom(atom.axis, inner_size, atom.stride)
