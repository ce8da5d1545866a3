"""The recording pass: one forward and one backward that hand back what every site saw.

For each site with a fan-in side: the inputs a (one row for each application of the weight) and the gradients
g = d log p(y_n | x_n) / d s of its output s, per example (MATH 3.1). The Kronecker factors of K-FAC are then one matmul
each, A = E[a a^T] and S = E[g g^T]; per-example weight gradients are never formed. Targets are either given (empirical
Fisher) or drawn from the likelihood (true Fisher). The log-likelihood is summed over the batch, so that rows of g
belong to examples: a mean would shrink S by the square of the batch size.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from plait._random import check_key
from plait._typing import Array, PRNGKey, PyTree, Scalar
from plait.model.bayesian_model import BayesianModel, run_program, trace_model
from plait.site import Site
from plait.site.base import MatrixSite


@runtime_checkable
class Observes(Protocol):
    """What the recording pass asks of a likelihood."""

    def log_prob(self, outputs: Array, y: Array) -> Array:
        """log p(y_n | outputs_n): [examples]."""
        ...

    def sample(self, key: PRNGKey, outputs: Array) -> Array:
        """A draw of targets."""
        ...


@dataclass(frozen=True)
class SiteRecord:
    """What one site saw in one pass."""

    site: Site
    inputs: Array
    """The activation, as the model shapes it."""
    gradients: Array
    """Gradient of the summed log-likelihood with respect to the site's output, as the model shapes it."""

    def _matrix_site(self) -> MatrixSite:
        if not isinstance(self.site, MatrixSite):
            raise TypeError(f"{self.site.view.path!r} is a {self.site.kind}: it has no fan-in side")
        return self.site

    def rows(self) -> Array:
        """a: [applications, groups, fan_in]."""
        return self._matrix_site().inputs_as_rows(self.inputs)

    def columns(self) -> Array:
        """g: [applications, groups, fan_out / groups]."""
        return self._matrix_site().outputs_as_columns(self.gradients)

    def input_second_moment(self) -> Array:
        """A = mean of a a^T over examples and places: one matmul."""
        rows = self.rows().reshape(-1, self.site.layout.fan_in)
        return rows.T @ rows / rows.shape[0]

    def gradient_second_moment(self) -> Array:
        """S = mean of g g^T over examples and places: one matmul."""
        columns = self.columns()
        flat = columns.reshape(-1, columns.shape[-1])
        return flat.T @ flat / flat.shape[0]


class Recording(NamedTuple):
    """What one recording pass returns."""

    outputs: Any
    """The model's output."""
    log_likelihood: Scalar
    """Summed over the batch."""
    weights: dict[str, Array]
    """The weights at which it was taken."""
    weight_gradients: dict[str, Array]
    """Gradients of the summed log-likelihood."""
    sites: dict[str, SiteRecord]
    """By path, for weights with one use outside loops; the others have only their weight gradient."""


class _Tap:
    """A handler that runs with given weights and adds a zero to every site's output, to differentiate by."""

    def __init__(self, weights: Mapping[str, Array], single: set[str], taps: Mapping[str, Array] | None):
        self._weights, self._single, self._taps = weights, single, taps
        self.sites: dict[str, Site] = {}
        self.inputs: dict[str, Array] = {}

    def meet(self, site: Site, x: Array) -> Array:
        path = site.view.path
        y = site.apply(x, site.view.cut(self._weights[path]))
        if path not in self._single:
            return y
        self.sites[path], self.inputs[path] = site, x
        return y if self._taps is None else y + self._taps[path]

    def array(self, path: str) -> Array:
        return self._weights[path]

    def enters_loops(self, path: str) -> bool:
        del path
        return False

    def examples(self, variable: Any) -> None:
        del variable

    @contextmanager
    def body(self, *, loop: bool) -> Iterator[Callable[[], None]]:
        del loop
        single, self._single = self._single, set()
        yield lambda: None
        self._single = single


def record(
    bnn: BayesianModel,
    x: PyTree,
    *args: Any,
    likelihood: Observes,
    key: PRNGKey,
    y: Array | None = None,
    weights: dict[str, Array] | None = None,
    output: Callable[[Any], Array] = lambda outputs: outputs,
) -> Recording:
    """Run the model once at one draw of its weights and record every site.

    Args:
        bnn: the model; one without components.
        x: a batch of inputs.
        *args: further inputs of the model.
        likelihood: turns outputs into a log-likelihood, and draws targets.
        key: for the weights, and for the targets when none are given.
        y: targets: with them, gradients are those of the data (empirical Fisher); without, of targets drawn from the
            model (true Fisher).
        weights: the weights to run at, by path, instead of a draw from the posterior.
        output: picks the likelihood's input from the model's outputs, where these are more than one array.
    """
    check_key(key)
    if bnn.components is not None:
        raise ValueError("record one component at a time: `plait.record(bnn.component(k), ...)`")
    weight_key, target_key = jax.random.split(key)
    values = bnn.draw_weights(weight_key) if weights is None else weights
    program, _ = trace_model(bnn, x, args, {})
    single = {row.path for row in bnn.sites if not row.one_draw and row.uses == 1 and not row.layout.is_vector}

    probe = _Tap(values, single, None)
    jax.eval_shape(lambda: run_program(bnn, program, probe))
    sites = probe.sites
    taps = {path: jnp.zeros(site.y.shape, site.y.dtype) for path, site in sites.items()}

    def log_likelihood(values: dict[str, Array], taps: dict[str, Array]) -> tuple[Scalar, Any]:
        handler = _Tap(values, single, taps)
        outputs = run_program(bnn, program, handler)
        observed = output(outputs)
        targets = likelihood.sample(target_key, jax.lax.stop_gradient(observed)) if y is None else y
        return jnp.sum(likelihood.log_prob(observed, targets)), (outputs, handler.inputs)

    (value, (outputs, inputs)), (weight_gradients, gradients) = jax.value_and_grad(
        log_likelihood, argnums=(0, 1), has_aux=True
    )(values, taps)
    records = {path: SiteRecord(site, inputs[path], gradients[path]) for path, site in sites.items()}
    return Recording(outputs, value, values, weight_gradients, records)
