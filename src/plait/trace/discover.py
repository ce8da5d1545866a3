"""The abstract pass: which weights meet which activations, without computing anything."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp

from plait._typing import Array
from plait.site import Site
from plait.trace.interpret import interpret
from plait.trace.program import Program
from plait.trace.shift import Output, output_of


@dataclass(frozen=True)
class SiteUse:
    """One use of one weight."""

    path: str
    site: Site | None
    """None where the weight is needed as an array."""
    in_loop: bool
    """Whether the use lies in the body of a scan."""
    shifts: str | None = None
    """The weight whose result this one is added to, column by column, with nothing in between."""


@dataclass
class _Recorder:
    """A handler that notes every use and computes with zeros."""

    keeps_checkpoints = False
    weights: dict[str, Any]
    uses: list[SiteUse] = field(default_factory=list)
    loop_depth: int = 0

    def meet(self, site: Site, x: Array | Output) -> Array | Output:
        shifts = x.path if isinstance(x, Output) and x.shifted_by(site) else None
        self.uses.append(SiteUse(site.view.path, site, self.loop_depth > 0, shifts))
        value = x.settle() if isinstance(x, Output) else x
        return output_of(site, site.apply(value, jnp.zeros(site.view.shape, self.weights[site.view.path].dtype)))

    def array(self, path: str) -> Array:
        self.uses.append(SiteUse(path, None, self.loop_depth > 0))
        return jnp.zeros(self.weights[path].shape, self.weights[path].dtype)

    def enters_loops(self, path: str) -> bool:
        del path
        return True

    def examples(self, variable: Any) -> None:
        del variable

    @contextmanager
    def body(self, *, loop: bool) -> Iterator[Callable[[], None]]:
        start = len(self.uses)

        def begin() -> None:
            del self.uses[start:]

        self.loop_depth += loop
        yield begin
        self.loop_depth -= loop


def discover(program: Program, weights: dict[str, Any]) -> tuple[SiteUse, ...]:
    """All uses of all weights, in program order."""
    recorder = _Recorder(weights)
    jax.eval_shape(lambda inputs: interpret(program.jaxpr, weights, inputs, recorder), program.inputs)
    return tuple(recorder.uses)
