"""Draws from the exact posterior by the No-U-Turn sampler, as the truth that approximations are compared with.

    log p(W | data) = sum_n log p(y_n | f(x_n; W)) + log p(W) + constant

What the likelihood is unsure of is integrated out, where its posterior given the outputs is known in closed form: with
q* that posterior, log p(y | W) = sum_n E_q* log p(y_n | f_n, theta) - KL(q* || p). For Gamma noise precisions,
tau | W ~ Gamma(a_0 + N d / 2, b_0 + 1/2 sum |y - f|^2).

Chains start at draws from the prior, and each finds its step size and the scales of its axes by window adaptation.
Whether they agree is judged by predictions, R-hat and effective sample size of f(x): weights of a network can be
permuted, and chains that differ in them may well predict the same.
"""

from dataclasses import dataclass, replace
from typing import Any, cast

import blackjax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from blackjax.adaptation.base import get_filter_adapt_info_fn
from blackjax.diagnostics import effective_sample_size, rhat

from plait._random import check_key
from plait._typing import Array, PRNGKey, Scalar
from plait.likelihood import Likelihood
from plait.model import BayesianModel
from plait.model.exchange import exchange
from plait.natural.prior import gaussian_priors
from plait.posterior import DrawsPosterior


@dataclass(frozen=True)
class Sampling:
    """How long, and how."""

    chains: int = 4
    warmup: int = 1_000
    """Steps of a chain in which it adapts, and which are not kept."""
    draws: int = 1_000
    """Kept of each chain."""
    target_acceptance: float = 0.8
    max_doublings: int = 8
    """A trajectory has at most 2 to this power leapfrog steps."""

    def __post_init__(self):
        for name in ("chains", "warmup", "draws", "max_doublings"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"`{name}` must be a positive integer, got {value!r}")
        if self.draws < 4:
            raise ValueError(
                f"`draws` of a chain must be at least 4, for each half to have a variance; got {self.draws}"
            )
        if not 0 < self.target_acceptance < 1:
            raise ValueError(f"`target_acceptance` must lie in (0, 1), got {self.target_acceptance!r}")


class Chains(eqx.Module):
    """What was drawn; with trials side by side all arrays lead with them."""

    weights: dict[str, Array]
    """By path, [chains, draws, ...]."""
    divergent: Array
    """Whether a trajectory left the region where the integrator holds, [chains, draws]."""
    leapfrogs: Array
    """Of each trajectory, [chains, draws]."""
    acceptance: Array
    """[chains, draws]."""


def sample_posterior(bnn: BayesianModel, data: tuple[Any, Array], *, key: PRNGKey, sampling: Sampling) -> Chains:
    """The chains of one model; a pure function, to be jitted, and mapped over trials.

    The model says network, normal priors and likelihood; its own posterior plays no part but for constants.
    """
    check_key(key)
    log_density, priors = log_posterior(bnn, data), gaussian_priors(bnn)
    weights = {path: value for path, value in bnn.draw_weights(None).items() if path in priors}

    def start(key: PRNGKey) -> dict[str, Array]:
        keys = jax.random.split(key, len(weights))
        noise = {p: jax.random.normal(k, weights[p].shape, weights[p].dtype) for p, k in zip(priors, keys, strict=True)}
        return {path: _around(priors[path], noise[path]) for path in priors}

    def chain(key: PRNGKey) -> Any:
        start_key, warmup_key, draw_key = jax.random.split(key, 3)
        warmup = blackjax.window_adaptation(
            blackjax.nuts,
            log_density,
            target_acceptance_rate=sampling.target_acceptance,
            adaptation_info_fn=get_filter_adapt_info_fn(),
            max_num_doublings=sampling.max_doublings,
        )
        # Blackjax's annotations do not know the arguments and results of its own algorithms.
        (state, parameters), _ = cast(Any, warmup).run(warmup_key, start(start_key), sampling.warmup)
        kernel = cast(Any, blackjax.nuts(log_density, **parameters)).step

        def step(state: Any, key: PRNGKey) -> Any:
            state, info = kernel(key, state)
            return state, (state.position, info.is_divergent, info.num_integration_steps, info.acceptance_rate)

        return jax.lax.scan(step, state, jax.random.split(draw_key, sampling.draws))[1]

    # Blackjax leans on implicit promotion, whatever the user's settings.
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        return Chains(*jax.vmap(chain)(jax.random.split(key, sampling.chains)))


def log_posterior(bnn: BayesianModel, data: tuple[Any, Array]) -> Any:
    """log p(W | data) up to a constant, as a function of the random weights by path."""
    if bnn.components is not None:
        raise ValueError(
            f"a mixture of {bnn.components} components has its priors on factors: build the model with another family, "
            "`posterior=plait.MeanField()` for instance"
        )
    if bnn.likelihood is None:
        raise ValueError("the likelihood of targets given outputs is not known: `bnn.with_likelihood(...)`")
    likelihood, (x, y) = bnn.likelihood, data
    if likelihood.num_params and type(likelihood).kl is Likelihood.kl:
        raise ValueError(
            f"{type(likelihood).__name__} has trained numbers and no prior for them: give it fixed ones, or take "
            "plait.GammaGaussian"
        )
    priors, inputs = gaussian_priors(bnn), x if isinstance(x, tuple) else (x,)
    constants = {path: value for path, value in bnn.draw_weights(None).items() if path not in priors}
    names = dict(bnn.prior_names)

    def log_density(weights: dict[str, Array]) -> Scalar:
        outputs = bnn.skeleton(constants | weights, *inputs)
        known = likelihood.updated(outputs, y, dataset_size=y.shape[0])
        fit = jnp.sum(known.expected_log_prob(outputs, y)) - known.kl()
        terms = [bnn.priors[names[path]].log_prob(weight) for path, weight in weights.items()]
        return fit + sum(terms[1:], terms[0])

    return log_density


def with_draws(bnn: BayesianModel, chains: Chains, data: tuple[Any, Array]) -> BayesianModel:
    """The model with the draws as its posterior, for `plait.predict` and all else that predicts.

    Its likelihood is the best that is the same for all draws; `log_prob` has one for each.
    """
    draws = {path: values.reshape(-1, *values.shape[2:]) for path, values in chains.weights.items()}
    kept = {path: value for path, value in bnn.posteriors.items() if path not in draws}
    posterior = DrawsPosterior(draws)
    sampled = exchange(bnn, kept, (posterior,), dict.fromkeys(draws, f"Draws({posterior.num_draws})"))
    rows = tuple(replace(row, kl="") if row.path in draws else row for row in sampled.sites)
    assert bnn.likelihood is not None
    outputs, (_, y) = function_draws(bnn, chains, data[0]), data
    best = bnn.likelihood.updated(outputs.reshape(-1, *outputs.shape[2:]), y, dataset_size=y.shape[0])
    return replace(sampled, sites=rows, likelihood=best)


def function_draws(bnn: BayesianModel, chains: Chains, x: Any) -> Array:
    """f(x) of every draw, [chains, draws, N, ...]."""
    inputs = x if isinstance(x, tuple) else (x,)
    means = bnn.draw_weights(None)
    return jax.vmap(jax.vmap(lambda weights: bnn.skeleton(means | weights, *inputs)))(chains.weights)


def log_prob(bnn: BayesianModel, chains: Chains, data: tuple[Any, Array], test: tuple[Any, Array]) -> Array:
    """log 1/S sum_s p(y | x, W_s, data) of each test example, what the likelihood is unsure of integrated out."""
    likelihood, y = bnn.likelihood, data[1]
    assert likelihood is not None

    def member(seen: Array, outputs: Array) -> Array:
        return likelihood.updated(seen, y, dataset_size=y.shape[0]).log_prob(outputs, test[1])

    seen, outputs = function_draws(bnn, chains, data[0]), function_draws(bnn, chains, test[0])
    terms = jax.vmap(jax.vmap(member))(seen, outputs)
    count = jnp.asarray(terms.shape[0] * terms.shape[1], terms.dtype)
    return jax.nn.logsumexp(terms, axis=(0, 1)) - jnp.log(count)


@dataclass(frozen=True)
class Agreement:
    """Whether chains agree on a function: the worst and the median over its values."""

    rhat: float
    """The largest R-hat (Vehtari et al. 2021, rank-normalised and split); below 1.01 is what one hopes for."""
    median_rhat: float
    ess: float
    """The smallest effective sample size."""
    median_ess: float
    divergent: float
    """The part of all trajectories that diverged."""

    @classmethod
    def of(cls, functions: Array, divergent: Array) -> "Agreement":
        """Of draws [chains, draws, ...]."""
        flat = jnp.asarray(functions).reshape(*functions.shape[:2], -1)
        if flat.shape[0] < 2:
            raise ValueError(f"R-hat compares chains, and there is {flat.shape[0]}: sample two or more")
        with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
            ratios, sizes = np.ravel(rhat(flat)), np.ravel(effective_sample_size(flat))
        return cls(
            float(np.max(ratios)),
            float(np.median(ratios)),
            float(np.min(sizes)),
            float(np.median(sizes)),
            float(np.mean(np.asarray(divergent))),
        )


def _around(prior: Any, noise: Array) -> Array:
    mean, precision = (jnp.broadcast_to(value, noise.shape) for value in (prior.mean, prior.precision))
    return mean + noise * jax.lax.rsqrt(precision)
