"""How the tests of this folder come by a site: by running a function of a weight and an activation."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import pytest

from plait.site import Site
from plait.trace import interpret, trace


class Meeting:
    """A handler with a given weight that remembers the first site and what it saw."""

    keeps_checkpoints = True

    def __init__(self, weight: jax.Array):
        self.weight = weight
        self.site: Site | None = None
        self.x: Any = None
        self.outputs: Any = None

    def meet(self, site: Site, x: jax.Array) -> jax.Array:
        if self.site is None:
            self.site, self.x = site, x
        return site.apply(x, site.view.cut(self.weight))

    def array(self, path: str) -> jax.Array:
        del path
        return self.weight

    def enters_loops(self, path: str) -> bool:
        del path
        return False

    def examples(self, variable: Any) -> None:
        del variable

    @contextmanager
    def body(self, *, loop: bool) -> Iterator[Callable[[], None]]:
        del loop
        yield lambda: None


@pytest.fixture
def meet() -> Callable[..., Meeting]:
    """meet(forward, weight, x): where the weight meets an activation in forward(weight, x), and what comes out."""

    def run(forward: Callable[..., Any], weight: jax.Array, x: jax.Array) -> Meeting:
        program = trace(lambda weights, x: forward(weights["w"], x), {"w": weight}, (x,))
        meeting = Meeting(weight)
        meeting.outputs = program.rebuild(interpret(program.jaxpr, {"w": weight}, program.inputs, meeting))
        return meeting

    return run
