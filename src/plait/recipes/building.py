"""From options and facts about the data to a Bayesian network with its likelihood."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from plait._typing import PRNGKey
from plait.analysis import tied_families
from plait.likelihood import Bernoulli, Categorical, Gaussian, Likelihood, Poisson
from plait.model import BayesianModel, bayesianize
from plait.recipes.facts import Facts
from plait.recipes.networks import NetworkName, build_network
from plait.recipes.options import LikelihoodName, ModelOptions
from plait.recipes.posteriors import make_posterior
from plait.recipes.priors import make_prior

LIKELIHOODS: dict[str, tuple[LikelihoodName, ...]] = {
    "classification": ("categorical",),
    "binary": ("bernoulli",),
    "regression": ("gaussian", "poisson"),
}
"""Those that fit a task, the usual one first."""


def choose_likelihood(options: ModelOptions, facts: Facts) -> Likelihood:
    """The likelihood that is asked for, or the one that fits the targets."""
    fitting = LIKELIHOODS[facts.task]
    name = fitting[0] if options.likelihood is None else options.likelihood
    if name not in fitting:
        raise ValueError(
            f"the likelihood {name!r} does not fit the targets of {facts.name}, a {facts.task}; choose "
            f"{' or '.join(fitting)}"
        )
    if options.noise != "learned" and name != "gaussian":
        raise ValueError(f"`noise` is an option of the gaussian likelihood, and this is a {name} one")
    if name == "gaussian":
        return _gaussian(options.noise, facts)
    return {"categorical": Categorical, "bernoulli": Bernoulli, "poisson": Poisson}[name]()


def _gaussian(noise: Any, facts: Facts) -> Gaussian:
    if noise == "learned":
        # One for each target: they may be of different kinds.
        return Gaussian("learned", initial=0.5, shape=(facts.target_size,), min_scale=1e-3)
    if noise == "predicted":
        return Gaussian("predicted", min_scale=1e-3)
    scaler = facts.target_scale
    if scaler is None or scaler.y_scale is None or not noise > 0:
        return Gaussian(float(noise))
    return Gaussian(np.asarray(noise / scaler.y_scale, np.float32))


def build_model(
    options: ModelOptions, facts: Facts, *, ranks: Mapping[str, int] | None = None, key: PRNGKey
) -> BayesianModel:
    """The network before training; with `ranks`, by path, some of its mean-field weights tied."""
    network_key, posterior_key = jax.random.split(key)
    likelihood = choose_likelihood(options, facts)
    usual: NetworkName = "mlp" if facts.vocabulary_size is None else "lstm"
    network = build_network(
        usual if options.network is None else options.network,
        facts.input_shape,
        likelihood.num_outputs(facts.target_size),
        widths=options.widths,
        activation=options.activation,
        vocabulary_size=facts.vocabulary_size,
        key=network_key,
    )
    posterior = make_posterior(
        options.posterior, rank=options.rank, init_scale=options.init_scale, components=options.components
    )
    # The prior of rank-1 factors is another matter than one of weights: the family brings its own.
    usual_prior = None if options.posterior.startswith("rank-1") else "learned-normal"
    prior = usual_prior if options.prior is None else options.prior
    if prior is None and options.prior_scale is not None:
        raise ValueError("`prior_scale` of rank-1 factors needs a `prior` to belong to")
    rest: dict[str, Any] = {
        "prior": None if prior is None else make_prior(prior, options.prior_scale),
        "estimator": options.estimator,
        "key": posterior_key,
    }
    bnn = bayesianize(network, facts.example_inputs(), posterior=posterior, **rest)
    if ranks:
        bnn = bayesianize(network, facts.example_inputs(), posterior=tied_families(bnn, ranks), **rest)
    return bnn.with_likelihood(likelihood)
