"""What predictions are drawn from. Member s of a batch is the model's output at a key that depends on s alone.

    key -> (weights, noise, kl)      weights_s = fold_in(weights, s)      noise_sb = fold_in(fold_in(noise, s), b)

More samples therefore add to fewer, and the same key gives the same predictions whenever they are asked for. Where all
noise is in weights drawn once for a call, every batch b sees the same draw and a member is one function of x; otherwise
b is folded in, so that no two examples share noise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from plait._random import check_key
from plait._typing import Array, PRNGKey
from plait.estimator import ESTIMATORS
from plait.likelihood import Likelihood
from plait.model import BayesianModel
from plait.predict.inputs import count_examples, rows_of, take


class Keys(NamedTuple):
    """One key for each purpose."""

    weights: PRNGKey
    noise: PRNGKey
    """Of targets given outputs."""
    kl: PRNGKey


@dataclass(frozen=True, eq=False)
class Source:
    """A model, inputs, and how often and with which keys to draw."""

    bnn: BayesianModel
    likelihood: Likelihood
    inputs: tuple[Any, ...]
    keys: Keys | None
    """None for one pass with mean weights."""
    num_samples: int
    batch_size: int
    num_examples: int
    output: Callable[[Any], Array]
    output_shape: tuple[int, ...]
    """Of all examples in one pass, without components."""

    def check_targets(self, y: np.ndarray) -> None:
        """Refuse targets that do not belong to the outputs."""
        self.likelihood.check(self.output_shape, y.shape, y.dtype)
        self.likelihood.check_targets(y, self.output_shape)

    @property
    def folds_batches(self) -> bool:
        """Whether noise other than a draw of weights enters."""
        estimators = [ESTIMATORS[row.estimator] for row in self.bnn.sites if row.estimator != "mean"]
        return any(estimator.per_example or not estimator.draws_weights for estimator in estimators)

    @property
    def loops(self) -> bool:
        """Whether samples are drawn in a loop inside the program, which is quickest where it can be had.

        XLA lays out convolutions for the CPU only outside loops; inside one they take up to ten times as long.
        """
        return jax.default_backend() != "cpu" or all(row.kind != "conv" for row in self.bnn.sites)

    @property
    def num_batches(self) -> int:
        return -(-self.num_examples // self.batch_size)


def make_source(
    bnn: BayesianModel,
    x: Any,
    *,
    key: PRNGKey | None,
    likelihood: Likelihood | None,
    num_samples: int,
    batch_size: int,
    output: Callable[[Any], Array],
) -> Source:
    """A source, or an error that says what is missing."""
    check_key(key, optional=True)
    likelihood = bnn.likelihood if likelihood is None else likelihood
    if likelihood is None:
        raise ValueError(
            "the likelihood of targets given outputs is not known: pass one, `likelihood=plait.Categorical()` for "
            "instance, or use the model of `plait.fit`, which remembers its own"
        )
    for name, value in (("num_samples", num_samples), ("batch_size", batch_size)):
        if value < 1:
            raise ValueError(f"`{name}` must be a positive integer, got {value!r}")
    inputs = x if isinstance(x, tuple) else (x,)
    num_examples = count_examples(inputs)
    keys = None if key is None else Keys(*jax.random.split(key, 3))
    samples = 1 if keys is None else num_samples
    size = min(batch_size, num_examples)
    shape = _output_shape(bnn, take(inputs, rows_of(0, size, num_examples)), key, output, size)
    return Source(bnn, likelihood, inputs, keys, samples, size, num_examples, output, (num_examples, *shape))


def _output_shape(
    bnn: BayesianModel, inputs: tuple[Any, ...], key: PRNGKey | None, output: Callable[[Any], Array], size: int
) -> tuple[int, ...]:
    """The shape of one example's output."""
    found = eqx.filter_eval_shape(lambda: output(bnn(*inputs, key=key)))
    shape = getattr(found, "shape", None)
    components = (bnn.components,) if bnn.components is not None else ()
    leading = (*components, size)
    if shape is None or shape[: len(leading)] != leading:
        came = f"an array of shape {shape}" if shape is not None else f"a {type(found).__name__}"
        raise ValueError(
            f"predictions need one array of outputs with the {size} examples on the first axis"
            + (f" after the {components[0]} components" if components else "")
            + f", got {came}; pick it from what the model returns, `output=lambda outputs: outputs[0]` for instance"
        )
    return shape[len(leading) :]
