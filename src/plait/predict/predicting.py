"""`plait.predict`: from a Bayesian model and inputs to a predictive distribution."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from plait._typing import Array, PRNGKey
from plait.likelihood import Likelihood
from plait.likelihood.base import Numbers
from plait.model import BayesianModel
from plait.predict.batch import DRAWN
from plait.predict.predictive import Predictive, TargetScale
from plait.predict.quantiles import check_levels
from plait.predict.source import Source, make_source
from plait.predict.streaming import stream


def predict(
    bnn: BayesianModel,
    x: Any,
    *,
    key: PRNGKey | None,
    likelihood: Likelihood | None = None,
    num_samples: int = 100,
    batch_size: int = 1024,
    y: Numbers | None = None,
    keep_samples: bool = False,
    quantiles: Iterable[float] | None = None,
    standardizer: Any = None,
    output: Callable[[Any], Array] = lambda outputs: outputs,
    progress: bool | None = None,
) -> Predictive:
    """The predictive distribution of targets, averaged over weight samples that are never held all at once.

    Args:
        bnn: the model.
        x: inputs, examples on the first axis of every array, or a tuple `(x, *further inputs)`; an `eqx.nn.State` and a
            key are shared by all examples.
        key: for the weights. With `None`, one pass with mean weights.
        likelihood: of targets given outputs; the default is the one that `plait.fit` left in the model.
        num_samples: weight samples, of every component if there are several. More samples add to fewer: with one key
            the first ones are the same.
        batch_size: examples in one pass. Memory grows with it, and not with `num_samples`.
        y: targets, if `log_prob` of them is wanted: it then needs no second pass.
        keep_samples: also keep every sample's outputs and one target drawn from each, for `samples`, `outputs`,
            `targets` and `quantiles` at any levels.
        quantiles: levels at which quantiles of a regression or of counts are wanted; only those are kept.
        standardizer: what undoes the standardisation of a regression's targets, such as `dataset.standardizer`. Then
            `x` and `y` go in as the model was trained on them, and everything comes out in the units of the data.
        output: picks the likelihood's input from the model's outputs, where these are more than one array.
        progress: whether to show a bar; by default on a terminal, when it takes a while.
    """
    source = make_source(
        bnn, x, key=key, likelihood=likelihood, num_samples=num_samples, batch_size=batch_size, output=output
    )
    scale = target_scale(source, standardizer)
    levels = () if quantiles is None else tuple(float(level) for level in quantiles)
    if quantiles is not None:
        check_levels(levels)
        _check_drawn(source)
    targets = None if y is None else np.asarray(y)
    if targets is not None:
        source.check_targets(targets)
    found = stream(source, y=targets, keep=keep_samples, levels=levels, progress=progress)
    kept_quantiles = {} if found.quantiles is None else dict(zip(levels, found.quantiles, strict=True))
    return Predictive(source, found.groups[0], targets, scale, found.outputs, found.targets, kept_quantiles)


def target_scale(source: Source, standardizer: Any) -> TargetScale | None:
    """The standardizer, where targets have a scale: labels have none."""
    task = source.likelihood.task
    if standardizer is None or task in ("classification", "binary"):
        return None
    if task == "counts":
        raise ValueError(f"{type(source.likelihood).__name__} counts cannot be standardised: leave `standardizer` out")
    if not isinstance(standardizer, TargetScale):
        raise TypeError(
            "`standardizer` needs original_mean, original_std and log_scale, as plait.data.Standardizer has them; got "
            f"a {type(standardizer).__name__}"
        )
    return standardizer


def _check_drawn(source: Source) -> None:
    likelihood = source.likelihood
    if likelihood.task not in DRAWN:
        raise ValueError(f"{type(likelihood).__name__} targets have no quantiles: leave `quantiles` out")
    if source.keys is None:
        raise ValueError("`quantiles` are of drawn targets and need a key, got `key=None`")
