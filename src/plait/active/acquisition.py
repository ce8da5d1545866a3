"""What makes an input worth a label: a score for each, the larger the better.

    predictive_variance   sum over the target's entries of Var_W E[y | x, W]
    mutual_information    I[y; W | x] = H[y | x] - E_W H[y | x, W], BALD (Houlsby et al. 2011)
    uniform               chance, what the others have to beat

Mutual information of classes is exact for the weights drawn. Of a regression the entropy of the mixture is taken for
that of a normal distribution of the same variance, 1/2 log(Var[y | x] / E_W Var[y | x, W]) for each entry of a target:
exact where functions are normally distributed and noise has one variance. With the same noise everywhere it ranks one
target as the variance does; where noise varies it prefers what labels can teach.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from plait._random import check_key
from plait._typing import PRNGKey
from plait.predict import Predictive

Acquisition = Callable[..., Any]
"""`acquisition(prediction, key=key)` gives a score for each input, [N]."""


def predictive_variance(prediction: Predictive, *, key: PRNGKey | None = None) -> np.ndarray:
    """How much the mean of a target differs from one weight sample to the next, without its noise."""
    del key
    return _per_example(prediction.epistemic)


def mutual_information(prediction: Predictive, *, key: PRNGKey | None = None) -> np.ndarray:
    """What a label would tell about the weights, in nats."""
    del key
    task = prediction.source.likelihood.task
    if task in ("classification", "binary"):
        return _per_example(prediction.mutual_information)
    if task != "regression":
        raise ValueError(
            f"the mutual information of {task} with the weights has no formula here: use "
            "plait.active.predictive_variance"
        )
    # Logarithms of 1 + a ratio: where the weights agree, the two variances are all but equal.
    return _per_example(0.5 * np.log1p(prediction.epistemic / prediction.aleatoric))


def uniform(prediction: Predictive, *, key: PRNGKey | None = None) -> np.ndarray:
    """Chance."""
    if key is None:
        raise ValueError("chance needs a key: `uniform(prediction, key=jax.random.key(seed))`")
    check_key(key)
    return np.asarray(jax.random.uniform(key, (len(prediction),)))


ACQUISITIONS: dict[str, Acquisition] = {
    "predictive_variance": predictive_variance,
    "mutual_information": mutual_information,
    "uniform": uniform,
}
"""Those that can be asked for by name."""


def find_acquisition(acquisition: str | Acquisition) -> Acquisition:
    """The function itself, or the one of a name."""
    if callable(acquisition):
        return acquisition
    if acquisition not in ACQUISITIONS:
        raise ValueError(
            f"`acquisition` must be one of {', '.join(map(repr, ACQUISITIONS))}, or a function of a prediction and a "
            f"key; got {acquisition!r}"
        )
    return ACQUISITIONS[acquisition]


def _per_example(values: np.ndarray) -> np.ndarray:
    return np.asarray(values).reshape(len(values), -1).sum(axis=1)
