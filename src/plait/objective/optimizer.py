"""What `fit` asks of an optimizer, by gradients or by natural gradients alike.

    init(bnn) -> state
    step(bnn, state, batch, key, likelihood, dataset_size, kl_weight) -> (bnn, state, aux)

Both are pure functions that run inside one compiled program. The model that `init` sees has its likelihood attached.
An optimizer that keeps something of its own in the posterior may have a third method, `prepare(bnn) -> bnn`: the model
with the posteriors that it trains. `fit` calls it once, before `init`.
"""

from typing import Any, NamedTuple, Protocol, runtime_checkable

from plait._typing import PRNGKey, Scalar
from plait.likelihood import Likelihood
from plait.model.bayesian_model import BayesianModel


class StepAux(NamedTuple):
    """What one step found out."""

    loss: Scalar
    """Negative ELBO per example, with the KL weight."""
    nll: Scalar
    kl: Scalar
    """In nats, all weights together; not divided by anything."""
    likelihood: Likelihood
    """With its arrays, if any, after the step."""
    grad_norm: Scalar | None = None
    """Of the gradient before clipping, where there is one."""


@runtime_checkable
class Optimizer(Protocol):
    """A method of training."""

    def init(self, bnn: BayesianModel) -> Any:
        """The state before the first step."""
        ...

    def step(
        self,
        bnn: BayesianModel,
        state: Any,
        batch: tuple[Any, Any],
        *,
        key: PRNGKey,
        likelihood: Likelihood,
        dataset_size: int,
        kl_weight: Any = 1.0,
    ) -> tuple[BayesianModel, Any, StepAux]:
        """One update."""
        ...
