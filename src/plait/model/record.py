"""The recording pass: one forward and one backward that hand back what every site saw.

    a: what one application of a weight sees       g = d log p(y_n | x_n, W) / d s: the gradient of what it gives
    d log p(y | x, W) / d W = sum over applications of a g^T,      A = E[a a^T],      S = E[g g^T]        (MATH 3.1)

The factors of K-FAC are one matmul each; per-example weight gradients are never formed. Targets are given (empirical
Fisher) or drawn from the likelihood (true Fisher). The log-likelihood is summed over the batch, so that every g is that
of one example: a mean would shrink S by the square of the batch size.

The Fisher matrix of a weight that one example applies T times (the places of a convolution or sequence) is about
T A (x) S. A group of a grouped contraction or convolution shares neither inputs nor outputs with another: it is a layer
of its own, with an A and an S of its own.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._random import check_key
from plait._typing import Array, PRNGKey, PyTree, Scalar
from plait.likelihood import Likelihood
from plait.likelihood.base import Numbers
from plait.model.bayesian_model import BayesianModel, run_program, trace_model
from plait.site import Site
from plait.site.base import MatrixSite


class SiteRecord(eqx.Module):
    """What one site saw in one pass."""

    site: MatrixSite = eqx.field(static=True)
    inputs: Array
    """The activation, as the model shapes it."""
    gradients: Array
    """Gradient of the summed log-likelihood with respect to the site's output, as the model shapes it."""

    def rows(self, *, bias: bool = False) -> Array:
        """a: [applications, groups, fan_in], or with `bias` a 1 appended, [applications, groups, fan_in + 1]."""
        rows = self.site.inputs_as_rows(self.inputs)
        return jnp.concatenate([rows, jnp.ones_like(rows[..., :1])], axis=-1) if bias else rows

    def columns(self) -> Array:
        """g: [applications, groups, fan_out / groups]."""
        return self.site.outputs_as_columns(self.gradients)

    def input_second_moment(self, *, bias: bool = False) -> Array:
        """A of each group, [groups, n, n], the mean over examples and places; `bias` as in `rows`."""
        return _second_moment(self.rows(bias=bias))

    def gradient_second_moment(self) -> Array:
        """S of each group, [groups, m, m], the mean over examples and places."""
        return _second_moment(self.columns())

    def weight_gradient(self) -> Array:
        """sum of a g^T, in the shape of the weight."""
        return self.site.from_groups(jnp.einsum("tgi,tgj->gij", self.rows(), self.columns()))


def _second_moment(vectors: Array) -> Array:
    # Sums of half-precision squares lose digits that the inverse of the moment needs.
    wide = jnp.float32 if jnp.finfo(vectors.dtype).bits < 32 else vectors.dtype
    return jnp.einsum("tgi,tgj->gij", vectors, vectors, preferred_element_type=wide) / vectors.shape[0]


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
    """By path, for weights that have a fan-in side and are used once, whole and outside loops; the others have only
    their weight gradient."""


class _Tap:
    """A handler that runs with given weights and adds a zero to every site's output, to differentiate by."""

    # What a checkpoint would forget is what the record is made of.
    keeps_checkpoints = True

    def __init__(self, weights: Mapping[str, Array], recorded: set[str], taps: Mapping[str, Array] | None):
        self._weights, self._recorded, self._taps = weights, recorded, taps
        self.sites: dict[str, MatrixSite] = {}
        self.inputs: dict[str, Array] = {}

    def meet(self, site: Site, x: Array) -> Array:
        path = site.view.path
        y = site.apply(x, site.view.cut(self._weights[path]))
        if path not in self._recorded or not isinstance(site, MatrixSite):
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
        yield lambda: None


def record(
    bnn: BayesianModel,
    x: PyTree,
    *args: Any,
    likelihood: Likelihood,
    key: PRNGKey,
    y: Numbers | None = None,
    weights: dict[str, Array] | None = None,
    output: Callable[[Any], Array] = lambda outputs: outputs,
    pull: Callable[[Array], Array] | None = None,
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
        pull: what to pull back from the likelihood's input, as a function of it, instead of the gradient of the
            log-likelihood: a column of the Fisher matrix' root, say. `log_likelihood` is then their product.
    """
    check_key(key)
    if bnn.components is not None:
        raise ValueError(
            f"`record` takes a model of one component, got a mixture of {bnn.components}: record one at a time, "
            "`plait.record(bnn.component(k), ...)`"
        )
    if weights is not None:
        _check_weights(bnn, weights)
    return _record(bnn, x, args, likelihood, key, y, weights, output, pull)


def _check_weights(bnn: BayesianModel, weights: dict[str, Array]) -> None:
    expected, came = {row.path: row.shape for row in bnn.sites}, {path: w.shape for path, w in weights.items()}
    if expected != came:
        wrong = sorted(path for path in expected.keys() | came.keys() if expected.get(path) != came.get(path))
        raise ValueError(
            f"`weights` must have every weight of the model in its shape; {wrong[0]!r} should be "
            f"{expected.get(wrong[0], 'absent')} and is {came.get(wrong[0], 'absent')}. "
            "Start from `bnn.draw_weights(key)`"
        )


@eqx.filter_jit
def _record(
    bnn: BayesianModel,
    x: PyTree,
    args: tuple[Any, ...],
    likelihood: Likelihood,
    key: PRNGKey,
    y: Numbers | None,
    weights: dict[str, Array] | None,
    output: Callable[[Any], Array],
    pull: Callable[[Array], Array] | None,
) -> Recording:
    weight_key, target_key = jax.random.split(key)
    values = bnn.draw_weights(weight_key) if weights is None else weights
    program, _ = trace_model(bnn, x, args, {})
    recorded = {row.path for row in bnn.sites if row.uses == 1 and row.uses_agree and not row.one_draw}

    probe = _Tap(values, recorded, None)
    jax.eval_shape(lambda: run_program(bnn, program, probe))
    taps = {path: jnp.zeros(site.y.shape, site.y.dtype) for path, site in probe.sites.items()}

    def log_likelihood(values: dict[str, Array], taps: dict[str, Array]) -> tuple[Scalar, Any]:
        handler = _Tap(values, recorded, taps)
        outputs = run_program(bnn, program, handler)
        observed = output(outputs)
        if pull is not None:
            return jnp.sum(observed * pull(jax.lax.stop_gradient(observed))), (outputs, handler.inputs)
        targets = likelihood.sample(target_key, jax.lax.stop_gradient(observed)) if y is None else y
        return jnp.sum(likelihood.log_prob(observed, targets)), (outputs, handler.inputs)

    differentiate = jax.value_and_grad(log_likelihood, argnums=(0, 1), has_aux=True)
    (value, (outputs, inputs)), (weight_gradients, gradients) = differentiate(values, taps)
    sites = {path: SiteRecord(site, inputs[path], gradients[path]) for path, site in probe.sites.items()}
    return Recording(outputs, value, values, weight_gradients, sites)
