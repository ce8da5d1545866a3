"""One step of noisy natural gradient, whatever the structure of the curvature (paper 004, algorithms 1 and 2).

    w ~ q,   v = mean over the batch and over draws of grad log p(y | x, w) - lambda / N P (w - m)
    m <- b m + (1 - b) v,   m^ = m / (1 - b^t)                        momentum with its bias corrected
    Lambda by the curvature every `statistics_every` steps, its decompositions every `inverse_every`
    mu <- mu + alpha (N / lambda) (Lambda + ridge)^-1 m^

The draws are those of the posterior itself, which predictions are made from. alpha and beta are the rates that the
paper writes with a tilde; both may be functions of the step. Constants (`plait.Point`) are trained by Adam.
"""

import functools
import operator
import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from plait._random import check_key
from plait._typing import Array, PRNGKey, PyTree, Scalar
from plait.likelihood import Likelihood
from plait.model import BayesianModel, Recording
from plait.model.exchange import exchange
from plait.natural.curvature import Curvature, Look, Priors
from plait.natural.fisher import FISHERS, Fisher, Passes
from plait.natural.noise import check_noise, start_noise, update_noise
from plait.natural.prior import gaussian_priors
from plait.natural.shared import every
from plait.objective import StepAux
from plait.posterior import JointPosterior, PointPosterior

SMALLEST_KL_WEIGHT = 1e-4
"""A KL weight of zero, where annealing may start, asks for a posterior of no width: it counts as this."""


class NaturalState(NamedTuple):
    """What is kept beside the model."""

    count: Array
    momentum: dict[str, Array]
    curvature: tuple[PyTree, ...]
    """Of each structure, what does not fit into its posterior."""
    points: Any
    """Of Adam, for constants."""
    noise: Any
    """Of the likelihood, where it is trained by gradients."""


class NaturalGradient(eqx.Module):
    """What the methods share; each says which structures it puts on a model (`curvatures`)."""

    learning_rate: Any = 0.01
    """alpha: a number, or a function of the step such as an optax schedule."""
    curvature_rate: Any = 0.01
    """beta: how much of each new curvature enters the moving average."""
    momentum: float = eqx.field(static=True, default=0.9)
    num_samples: int = eqx.field(static=True, default=1)
    """Weight samples in one step."""
    damping: Any = 0.0
    """Added to what gradients are divided by, per example, and to no covariance."""
    kl_clip: float | None = eqx.field(static=True, default=None)
    """A bound on the squared length of a step in the metric of the curvature."""
    noise: Any = eqx.field(static=True, default=0.01)
    """How the likelihood's own numbers are trained: a rate of their closed-form update, or an optax transformation."""
    fallback: Literal["mean-field", "refuse"] = eqx.field(static=True, default="mean-field")
    """What weights get that the structure cannot carry."""
    output: Callable[[Any], Array] = eqx.field(static=True, default=lambda outputs: outputs)
    """Picks the likelihood's input from the model's outputs, where these are more than one array."""

    if TYPE_CHECKING:
        # A static checker would take abstract variables for fields.
        @property
        def fisher(self) -> Fisher: ...

        @property
        def statistics_every(self) -> int: ...

        @property
        def inverse_every(self) -> int: ...
    else:
        fisher: eqx.AbstractVar[Fisher]
        """Which passes the curvature is made of."""
        statistics_every: eqx.AbstractVar[int]
        """Steps from one batch that enters the curvature to the next."""
        inverse_every: eqx.AbstractVar[int]
        """Steps from one decomposition of the curvature to the next."""

    def __check_init__(self):
        for name in ("num_samples", "statistics_every", "inverse_every"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"`{name}` must be a positive integer, got {value!r}")
        if not 0 <= self.momentum < 1:
            raise ValueError(f"`momentum` must lie in [0, 1), got {self.momentum!r}")
        for name, known in (("fisher", FISHERS), ("fallback", ("mean-field", "refuse"))):
            if getattr(self, name) not in known:
                options = ", ".join(map(repr, known))
                raise ValueError(f"`{name}` must be one of {options}, got {getattr(self, name)!r}")
        if isinstance(self.curvature_rate, (int, float)) and not 0 < self.curvature_rate <= 1:
            raise ValueError(f"`curvature_rate` must lie in (0, 1], got {self.curvature_rate!r}")
        if self.kl_clip is not None and not self.kl_clip > 0:
            raise ValueError(f"`kl_clip` must be positive, got {self.kl_clip!r}")
        check_noise(self.noise)

    @abstractmethod
    def curvatures(self, bnn: BayesianModel) -> tuple[tuple[Curvature, ...], dict[str, str]]:
        """The structures over the random weights of a model; and for weights that fall back to a diagonal one, why."""

    # -- what `fit` asks for -------------------------------------------------------------------------------------------

    def prepare(self, bnn: BayesianModel) -> BayesianModel:
        """The model with the posteriors of this method, which start at its means and average variances.

        A model that has them comes back as it is. `step` does the same, so calling it is needed only where the
        structure of a model must not change, in a loop of JAX, and for the `like=` of `plait.load`.
        """
        if bnn.components is not None:
            raise ValueError(
                f"natural-gradient methods have one Gaussian on the weights themselves, and this model a mixture of "
                f"{bnn.components}: build it with another family, `posterior=plait.MeanField()` for instance"
            )
        curvatures, reasons = self.curvatures(bnn)
        if all(curvature.find(bnn) is not None for curvature in curvatures):
            return bnn
        if reasons:
            listed = ", ".join(f"{path} ({reason})" for path, reason in sorted(reasons.items()))
            if self.fallback == "refuse":
                raise ValueError(f"{type(self).__name__} cannot carry these weights, and fallback='refuse': {listed}")
            warnings.warn(
                f"{type(self).__name__} cannot carry these weights; they get independent entries (MeanField, as in "
                f"plait.NoisyAdam): {listed}",
                UserWarning,
                stacklevel=2,
            )
        found = [(curvature, curvature.find(bnn)) for curvature in curvatures]
        values = [curvature.make(bnn) if value is None else value for curvature, value in found]
        names = {path: curvature.describe() for curvature in curvatures for path in curvature.paths}
        points = _points(bnn)
        names |= {row.path: row.posterior for row in bnn.sites if row.path in points}
        posteriors, joints = _collect(points, values)
        return exchange(bnn, posteriors, joints, names)

    def init(self, bnn: BayesianModel) -> NaturalState:
        bnn = self.prepare(bnn)
        priors, (curvatures, _) = gaussian_priors(bnn), self.curvatures(bnn)
        states = tuple(curvature.start(curvature.find(bnn), priors) for curvature in curvatures)
        paths = [path for curvature in curvatures for path in curvature.paths]
        weights = bnn.draw_weights(None)
        momentum = {path: jnp.zeros_like(weights[path]) for path in paths}
        with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
            points = self._adam().init({path: point.mean for path, point in _points(bnn).items()})
        noise = start_noise(self.noise, bnn.likelihood)
        return NaturalState(jnp.zeros((), jnp.int32), momentum, states, points, noise)

    def step(
        self,
        bnn: BayesianModel,
        state: NaturalState,
        batch: tuple[Any, Any],
        *,
        key: PRNGKey,
        likelihood: Likelihood,
        dataset_size: int,
        kl_weight: Any = 1.0,
    ) -> tuple[BayesianModel, NaturalState, StepAux]:
        check_key(key)
        bnn = self.prepare(bnn)
        priors, (curvatures, _) = gaussian_priors(bnn), self.curvatures(bnn)
        dtype = jax.tree.leaves(state.momentum)[0].dtype if state.momentum else jnp.result_type(float)
        weight = jnp.maximum(jnp.asarray(kl_weight, dtype), SMALLEST_KL_WEIGHT)
        strength = dataset_size / weight
        rate = jnp.asarray(_at(self.curvature_rate, state.count), dtype)
        alpha = jnp.asarray(_at(self.learning_rate, state.count), dtype)
        none = isinstance(self.damping, (int, float)) and self.damping == 0
        ridge = 0.0 if none else strength * jnp.asarray(self.damping, dtype)

        values: list[Any] = [curvature.find(bnn) for curvature in curvatures]
        passes = Passes(bnn, batch, likelihood.plug_in(), self.output)
        draw_key, fisher_key = jax.random.split(key)
        draws = _map(functools.partial(_draw, passes, priors, strength), jax.random.split(draw_key, self.num_samples))
        gradient = jax.tree.map(lambda leaf: jnp.mean(leaf, axis=0), draws.gradients)

        # The curvature, in its time.
        def observe(pair: tuple[Any, Any]) -> tuple[Any, Any]:
            values, states = pair

            def summarise(look: Look) -> list[Any]:
                return [c.summarise(look, v) for c, v in zip(curvatures, values, strict=True)]

            def average(data: Recording, key: PRNGKey) -> Any:
                return passes.average(self.fisher, data, key, summarise)

            keys = jax.random.split(fisher_key, self.num_samples)
            seen = jax.tree.map(lambda leaf: jnp.mean(leaf, axis=0), _map(average, draws.recording, keys))
            both = [
                c.absorb(v, s, one, priors, strength, rate)
                for c, v, s, one in zip(curvatures, values, states, seen, strict=True)
            ]
            return [v for v, _ in both], tuple(s for _, s in both)

        def decompose(pair: tuple[Any, Any]) -> tuple[Any, Any]:
            both = [c.refresh(v, s, priors, ridge) for c, v, s in zip(curvatures, *pair, strict=True)]
            return [v for v, _ in both], tuple(s for _, s in both)

        pair = every(state.count, self.statistics_every, observe, (values, state.curvature))
        values, states = every(state.count, self.inverse_every, decompose, pair)

        # The mean.
        momentum = {
            path: self.momentum * old + (1 - self.momentum) * gradient[path] for path, old in state.momentum.items()
        }
        count = state.count + 1
        correction = 1 - self.momentum ** count.astype(dtype)
        smooth = {path: value / correction for path, value in momentum.items()}
        directions: dict[str, Array] = {}
        for curvature, value, kept in zip(curvatures, values, states, strict=True):
            own = {path: smooth[path] for path in curvature.paths}
            directions |= curvature.direction(value, kept, own, strength, ridge)
        length = alpha * self._clip(alpha, smooth, directions)
        steps = {path: length * direction for path, direction in directions.items()}
        values = [c.move(v, {path: steps[path] for path in c.paths}) for c, v in zip(curvatures, values, strict=True)]
        points, adam = self._move_points(_points(bnn), gradient, state.points)
        posteriors, joints = _collect(points, values)

        nll = -jnp.mean(likelihood.expected_log_prob(draws.outputs, batch[1]))
        kl = bnn.kl() + likelihood.kl()
        trained, noise = update_noise(
            self.noise, likelihood, state.noise, draws.outputs, batch[1], dataset_size=dataset_size, kl_weight=weight
        )
        aux = StepAux(nll + kl_weight * kl / dataset_size, nll, kl, trained)
        bnn = replace(bnn, posteriors=posteriors, joints=joints)
        return bnn, NaturalState(count, momentum, states, adam, noise), aux

    # -- pieces --------------------------------------------------------------------------------------------------------

    def _adam(self) -> optax.GradientTransformation:
        return optax.adam(self.learning_rate, b1=self.momentum)

    def _move_points(
        self, points: dict[str, PointPosterior], gradient: dict[str, Array], state: Any
    ) -> tuple[dict[str, PointPosterior], Any]:
        if not points:
            return points, state
        uphill = {path: gradient[path] for path in points}
        with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
            updates: Any
            updates, state = self._adam().update(uphill, state)
        # Adam goes downhill, the log-likelihood is to rise.
        return {path: replace(point, mean=point.mean - updates[path]) for path, point in points.items()}, state

    def _clip(self, alpha: Array, gradient: dict[str, Array], directions: dict[str, Array]) -> Array:
        """min(1, sqrt(kl_clip / (alpha^2 v^T F^-1 v)))."""
        if self.kl_clip is None:
            return jnp.ones_like(alpha)
        terms = [jnp.sum(gradient[path] * direction) for path, direction in directions.items()]
        square = jnp.square(alpha) * functools.reduce(operator.add, terms)
        return jnp.minimum(1, jnp.sqrt(self.kl_clip / jnp.maximum(square, jnp.finfo(square.dtype).tiny)))


class _Draw(NamedTuple):
    recording: Recording
    gradients: dict[str, Array]
    """v, and of constants the gradient of the log-likelihood."""
    outputs: Array


def _draw(passes: Passes, priors: Priors, strength: Scalar, key: PRNGKey) -> _Draw:
    """One draw of the weights and what it gives."""
    weights = passes.bnn.draw_weights(key)
    recording = passes.data(weights, key)
    gradients = {path: value / passes.examples for path, value in recording.weight_gradients.items()}
    pulled = {path: gradients[path] - prior.pull(weights[path]) / strength for path, prior in priors.items()}
    return _Draw(recording, gradients | pulled, passes.output(recording.outputs))


def _map(function: Callable[..., Any], *arguments: Any) -> Any:
    """Over the draws; one alone needs no batched products."""
    if jax.tree.leaves(arguments)[0].shape[0] > 1:
        return jax.vmap(function)(*arguments)
    alone = function(*jax.tree.map(lambda leaf: leaf[0], arguments))
    return jax.tree.map(lambda leaf: leaf[None], alone)


def _at(value: Any, count: Array) -> Any:
    if not callable(value):
        return value
    # Schedules lean on implicit promotion, whatever the user's settings.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        return value(count)


def _points(bnn: BayesianModel) -> dict[str, PointPosterior]:
    return {path: value for path, value in bnn.posteriors.items() if isinstance(value, PointPosterior)}


def _collect(points: dict[str, Any], values: list[Any]) -> tuple[dict[str, Any], tuple[JointPosterior, ...]]:
    """Posteriors of single weights and joint ones."""
    posteriors = dict(points)
    for value in values:
        posteriors |= {} if isinstance(value, JointPosterior) else value
    # In one order, whoever made them: the structure of a model must not change from step to step.
    return dict(sorted(posteriors.items())), tuple(value for value in values if isinstance(value, JointPosterior))
