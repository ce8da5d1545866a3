"""Where arrays live: on one device, or over a mesh with the batch cut along its first axis and all else everywhere."""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from plait._compat import is_key
from plait._typing import PyTree


@dataclass(frozen=True)
class Placement:
    """A mesh, or None for the default device."""

    mesh: Mesh | None = None

    @property
    def shards(self) -> int:
        """How many devices share a batch."""
        return 1 if self.mesh is None else self.mesh.shape[self.mesh.axis_names[0]]

    def everywhere(self, tree: PyTree) -> PyTree:
        """The arrays on every device. Processes that share the mesh must hand in equal ones."""

        def put(leaf: Any) -> Any:
            if not (eqx.is_array(leaf) or isinstance(leaf, np.ndarray)):
                return leaf
            if self.mesh is None:
                return jnp.asarray(leaf)
            if is_key(leaf):
                return jax.random.wrap_key_data(put(jax.random.key_data(leaf)), impl=jax.random.key_impl(leaf))
            # Through the host: a device cannot hand its array on to devices of other processes.
            return jax.device_put(np.asarray(leaf), self._sharding())

        return jax.tree.map(put, tree)

    def feed(self, batch: PyTree) -> PyTree:
        """A batch that an iterator gave; where processes share the mesh, each has its own part of it."""
        if self.mesh is None:
            return jax.tree.map(jnp.asarray, batch)
        sharding = self._sharding(self.mesh.axis_names[0])
        return jax.tree.map(lambda leaf: jax.make_array_from_process_local_data(sharding, np.asarray(leaf)), batch)

    def cut(self, batch: PyTree) -> PyTree:
        """In a compiled program: each device works on its share of the batch."""
        if self.mesh is None:
            return batch
        return jax.lax.with_sharding_constraint(batch, self._sharding(self.mesh.axis_names[0]))

    def joined(self, arrays: PyTree) -> PyTree:
        """In a compiled program: every device holds the whole."""
        return arrays if self.mesh is None else jax.lax.with_sharding_constraint(arrays, self._sharding())

    def _sharding(self, *axes: str) -> NamedSharding:
        assert self.mesh is not None
        return NamedSharding(self.mesh, PartitionSpec(*axes))
