"""`plait.evaluate`: how good predictions are, each number with its standard error.

NLL = -mean_n log 1/M sum_m p(y_n | f_m)      Gibbs NLL = -mean_n 1/M sum_m log p(y_n | f_m)
-ELBO per example = Gibbs NLL + KL / N        N the number of training examples
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from plait._typing import Array, PRNGKey
from plait.likelihood import Likelihood
from plait.metrics import Estimate
from plait.model import BayesianModel
from plait.predict.evaluation import Evaluation, coverage_name
from plait.predict.jackknife import GROUPS, jackknife_error, leave_one_out, merge_all
from plait.predict.measures import measures, reliability
from plait.predict.predicting import target_scale
from plait.predict.predictive import Predictive
from plait.predict.quantiles import check_levels
from plait.predict.source import make_source
from plait.predict.streaming import stream


def evaluate(
    bnn: BayesianModel,
    data: tuple[Any, Any],
    *,
    key: PRNGKey | None,
    likelihood: Likelihood | None = None,
    dataset_size: int | None = None,
    num_samples: int = 100,
    batch_size: int = 1024,
    num_bins: int = 15,
    levels: Iterable[float] = (0.5, 0.9, 0.95),
    standardizer: Any = None,
    by_sample: bool = False,
    output: Callable[[Any], Array] = lambda outputs: outputs,
    progress: bool | None = None,
) -> Evaluation:
    """Score the predictions of a model.

    Args:
        bnn: the model.
        data: `(x, y)`, or `((x, *further inputs), y)`, as for `plait.predict`.
        key: for the weights; the predictions are those of `plait.predict` with the same key. With `None`, one pass with
            mean weights, which has neither an ELBO nor coverage.
        likelihood: of targets given outputs; the default is the one that `plait.fit` left in the model.
        dataset_size: the number of training examples that the KL is spread over in the ELBO; without it there is none.
        num_samples: weight samples.
        batch_size: examples in one pass.
        num_bins: of the calibration error.
        levels: of the central intervals whose coverage is measured, in a regression.
        standardizer: as for `plait.predict`: targets go in standardised, every number comes out in the data's units.
        by_sample: also estimate the standard error over weight samples, by a jackknife over groups of them.
        output: picks the likelihood's input from the model's outputs, where these are more than one array.
        progress: whether to show a bar; by default on a terminal, when it takes a while.
    """
    source = make_source(
        bnn, data[0], key=key, likelihood=likelihood, num_samples=num_samples, batch_size=batch_size, output=output
    )
    scale = target_scale(source, standardizer)
    intervals = tuple(levels)
    _check(num_bins, intervals, dataset_size)
    if by_sample and source.num_samples < 2:
        raise ValueError("`by_sample` needs a key and at least two weight samples, to see how they differ")
    y = np.asarray(data[1])
    source.check_targets(y)

    groups = min(GROUPS, source.num_samples) if by_sample else 1
    moments = stream(source, y=y, groups=groups, progress=progress).groups
    pred = Predictive(source, merge_all(moments), y, scale)

    def measured(pred: Predictive, num_resamples: int) -> dict[str, Estimate]:
        return measures(pred, num_bins=num_bins, levels=intervals, num_resamples=num_resamples)

    found = measured(pred, 200)
    kl = _kl(bnn, None if source.keys is None else source.keys.kl, num_samples)
    over_samples: dict[str, float] = {}
    if by_sample:
        # The spread of a bootstrap is not looked at here.
        without = [measured(replace(pred, moments=rest), 2) for rest in leave_one_out(moments)]
        over_samples = {name: jackknife_error([values[name].value for values in without]) for name in found}
    if dataset_size is not None and kl is not None and source.keys is not None:
        gibbs = found["gibbs_nll"]
        bound = gibbs.value + (kl + float(source.likelihood.kl())) / dataset_size
        found["negative_elbo"] = Estimate(bound, gibbs.standard_error)
        if by_sample:
            over_samples["negative_elbo"] = over_samples["gibbs_nll"]
    coverage = {level: found.pop(name) for level in intervals if (name := coverage_name(level)) in found}
    return Evaluation(
        **found,
        kl=kl,
        num_examples=len(pred),
        num_samples=pred.num_samples,
        coverage=coverage,
        reliability=reliability(pred, num_bins),
        over_samples=over_samples,
    )


def _check(num_bins: int, levels: tuple[float, ...], dataset_size: int | None) -> None:
    check_levels(levels)
    if num_bins < 1:
        raise ValueError(f"`num_bins` must be at least 1, got {num_bins}")
    if dataset_size is not None and dataset_size < 1:
        raise ValueError(f"`dataset_size` is the number of training examples, a positive integer; got {dataset_size!r}")


def _kl(bnn: BayesianModel, key: PRNGKey | None, num_samples: int) -> float | None:
    if all(row.kl != "Monte Carlo" for row in bnn.sites):
        return float(_exact_kl(bnn))
    return None if key is None else float(_drawn_kl(bnn, key, jnp.asarray(num_samples)))


@eqx.filter_jit
def _exact_kl(bnn: BayesianModel) -> Array:
    return bnn.kl()


@eqx.filter_jit
def _drawn_kl(bnn: BayesianModel, key: PRNGKey, num_samples: Array) -> Array:
    """A mean over draws: one alone is as noisy as the weights are many."""
    start = jnp.zeros_like(bnn.kl(key=key))
    total = lax.fori_loop(0, num_samples, lambda s, sum: sum + bnn.kl(key=jax.random.fold_in(key, s)), start)
    return total / num_samples.astype(total.dtype)
