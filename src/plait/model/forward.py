"""One stochastic pass: which draw, or which estimator, meets each site."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from plait._random import key_for
from plait._typing import Array, PRNGKey
from plait.estimator import ESTIMATORS, use_draw
from plait.model.site_table import SiteRow
from plait.posterior import Posterior, StructuredDraw
from plait.posterior.pending import Pending
from plait.site import Site
from plait.site.base import LOST, ExampleAxis
from plait.trace.example_axis import ExampleAxes


class Forward:
    """The handler of a forward pass.

    A weight's draw for a whole call comes from the key of its path alone, so it is the same wherever in the program it
    is needed, and drawing it again gives the same weight.
    """

    keeps_checkpoints = False

    def __init__(
        self,
        posteriors: Mapping[str, Posterior],
        given: Mapping[str, Array],
        rows: Mapping[str, SiteRow],
        key: PRNGKey | None,
        axes: ExampleAxes | None,
        mapped: bool = False,
    ):
        self._posteriors = posteriors
        self._rows = rows
        self._key = key
        self._axes = axes
        self._mapped = mapped
        self._draws: dict[tuple[str, bool], Array | StructuredDraw] = {(path, False): w for path, w in given.items()}
        self._given = set(given)
        self._uses: dict[str, int] = {}

    def _draw(self, path: str, per_example: bool = False) -> Array | StructuredDraw:
        key = (path, per_example)
        if key not in self._draws:
            posterior = self._posteriors[path]
            if self._key is None or self._rows[path].estimator == "mean":
                self._draws[key] = posterior.center()
            else:
                examples = self._axes.num_examples if per_example and self._axes is not None else None
                self._draws[key] = posterior.draw(key_for(self._key, path), examples)
        return self._draws[key]

    def _is_per_example(self, path: str) -> bool:
        if self._key is None or self._axes is None or not self._rows[path].uses_agree:
            return False
        return ESTIMATORS[self._rows[path].estimator].per_example

    def _draw_for(self, site: Site) -> Array | StructuredDraw:
        """The draw of a weight at one of its uses."""
        path = site.view.path
        if not self._rows[path].uses_agree:
            return self.array(path)
        if not self._is_per_example(path):
            return self._draw(path)
        if LOST in (site.x_examples, site.y_examples):
            raise ValueError(
                f"{path!r} is drawn for each example, but its {site.kind} takes {site.x.shape} to {site.y.shape} and "
                "it cannot be seen which entries belong to which example: the model merges or mixes the batch axis in "
                "other ways than by transposing and reshaping it. Pass a function of one example through "
                "`apply=jax.vmap(...)`, or use estimator='weights' there"
            )
        return self._draw(path, site.x_examples is not None or site.y_examples is not None)

    def meet(self, site: Site, x: Array | Pending) -> Array | Pending:
        path, site = site.view.path, replace(site, mapped=self._mapped)
        if isinstance(x, Pending):
            added = self._add(site, x)
            if added is not None:
                return added
            x = x.settle()
        if path in self._given or self._key is None:
            return use_draw(self._draw_for(site), site, x)
        estimator = ESTIMATORS[self._rows[path].estimator]
        if self._rows[path].one_draw or estimator.draws_weights:
            return use_draw(self._draw_for(site), site, x)
        posterior = self._posteriors[path].windowed(site.view)
        if posterior is None:
            return use_draw(self._draw_for(site), site, x)
        use = self._uses.get(path, 0) + 1
        self._uses[path] = use
        return estimator.apply(posterior, site, x, key_for(self._key, path, use))

    def _add(self, site: Site, x: Pending) -> Pending | None:
        """The weight's noise added to noise that is still to be drawn, where the two can share a draw."""
        path = site.view.path
        if path in self._given or self._rows[path].one_draw:
            return None
        posterior = self._posteriors[path].windowed(site.view)
        return None if posterior is None else ESTIMATORS[self._rows[path].estimator].add(posterior, site, x)

    def array(self, path: str) -> Array:
        draw = self._draw(path)
        return draw.dense() if isinstance(draw, StructuredDraw) else draw

    def enters_loops(self, path: str) -> bool:
        # Drawn here, outside the loop, so that all its steps see the same draw.
        if path in self._given or not self._rows[path].uses_agree:
            return False
        return isinstance(self._draw(path, self._is_per_example(path)), StructuredDraw)

    def examples(self, variable: Any) -> ExampleAxis | None:
        return None if self._axes is None else self._axes.of(variable)

    @contextmanager
    def body(self, *, loop: bool) -> Iterator[Callable[[], None]]:
        del loop
        draws, uses = dict(self._draws), dict(self._uses)

        def begin() -> None:
            self._draws, self._uses = dict(draws), dict(uses)

        yield begin
        self._draws = draws
