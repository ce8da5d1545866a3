"""A likelihood p(y | outputs): what a network's outputs say about a target.

    log_prob(outputs [S, N, ...], y [N, ...]) = sum over an example's entries of log p(y | outputs)    [S, N]

Axes of the outputs that the targets lack lead: weight samples, mixture components. Densities are computed in at least
32 bits, whatever the network computes in.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Literal, TypeAlias

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from plait._typing import Array, PRNGKey, Scalar

Numbers: TypeAlias = Array | np.ndarray
"""What a user may hand in: an array of either kind."""

Task: TypeAlias = Literal["classification", "binary", "regression", "counts"]


class Likelihood(eqx.Module):
    """A density of targets given outputs. Its arrays, if any, are trained along with the posterior."""

    task: ClassVar[Task]
    """What the targets are, which decides the metrics that fit."""

    @abstractmethod
    def log_prob(self, outputs: Numbers, y: Numbers) -> Array:
        """log p(y | outputs) in nats, for each example: [N], or [S, N] where the outputs have sample axes."""

    def expected_log_prob(self, outputs: Numbers, y: Numbers) -> Array:
        """The term of the evidence lower bound: log p averaged over what the likelihood itself is unsure of.

        `log_prob` is the logarithm of the averaged density. They differ only where there is something to average.
        """
        return self.log_prob(outputs, y)

    def kl(self) -> Scalar | float:
        """KL(q || p) in nats of what the likelihood itself is unsure of."""
        return 0.0

    def plug_in(self) -> "Likelihood":
        """A likelihood without anything to be unsure of, whose gradients in the outputs are those of the average."""
        return self

    def updated(
        self, outputs: Numbers, y: Numbers, *, dataset_size: int, kl_weight: Any = 1.0, rate: Any = 1.0
    ) -> "Likelihood":
        """With its arrays moved by `rate` towards the best for a batch, where these are known in closed form."""
        del outputs, y, dataset_size, kl_weight, rate
        return self

    def fisher_root(self, outputs: Numbers) -> Array:
        """Columns b_c, [columns, N, outputs], with sum_c b_c b_c^T the Fisher matrix of each example's outputs."""
        raise ValueError(
            f"{type(self).__name__} has no exact Fisher matrix of outputs of shape {jnp.shape(outputs)}; one of drawn "
            "targets needs none, fisher='sampled'"
        )

    @abstractmethod
    def sample(self, key: PRNGKey, outputs: Numbers) -> Array:
        """Targets drawn from the model itself: replicated data, and the labels of the true Fisher."""

    @abstractmethod
    def mean(self, outputs: Numbers) -> Array:
        """E[y | outputs]; for classes their probabilities."""

    @abstractmethod
    def variance(self, outputs: Numbers) -> Array:
        """Var[y | outputs], the aleatoric part, entry by entry of `mean`."""

    def entropy(self, outputs: Numbers) -> Array:
        """H[y | outputs] in nats, for each entry of a discrete target."""
        del outputs
        raise ValueError(f"{type(self).__name__} targets have no entropy here; that of Categorical and Bernoulli is")

    @abstractmethod
    def num_outputs(self, size: int) -> int:
        """How many outputs a network needs for targets of `size` entries (for `Categorical`: of `size` classes)."""

    @abstractmethod
    def check(self, output_shape: tuple[int, ...], y_shape: tuple[int, ...], y_dtype: Any) -> None:
        """Refuse outputs of one pass, without sample axes, and targets that do not belong together."""

    def check_targets(self, y: Any, output_shape: tuple[int, ...]) -> None:
        """Refuse target values outside the support; for concrete arrays, `check` for the rest."""
        del output_shape
        values = np.asarray(y)
        refuse(~np.isfinite(values), values, self, "a target that is not a finite number", "remove or impute it")

    @property
    def num_params(self) -> int:
        """Trained numbers."""
        return 0


def wide(values: Numbers) -> Array:
    """The values as a floating-point array of at least 32 bits."""
    array = jnp.asarray(values)
    is_wide = jnp.issubdtype(array.dtype, jnp.floating) and array.dtype.itemsize >= 4
    return array if is_wide else array.astype(jnp.float32)


def align(owner: Likelihood, values: Array, y: Numbers, *, outputs: Numbers, needs: str) -> Array:
    """Targets repeated along the leading axes of `values`, which beyond those have the targets' shape."""
    targets = jnp.asarray(y)
    leading = values.ndim - targets.ndim
    if targets.ndim == 0 or leading < 0 or values.shape[leading:] != targets.shape:
        raise ValueError(
            f"{type(owner).__name__} needs {needs}, with or without leading sample axes of the outputs; got outputs "
            f"{np.shape(outputs)} and y {targets.shape}"
        )
    return jnp.broadcast_to(targets, values.shape)


def sum_event(values: Array, y: Numbers) -> Array:
    """The sum over an example's own axes, which are those of `y` but the first."""
    return jnp.sum(values, axis=tuple(range(values.ndim - np.ndim(y) + 1, values.ndim)))


def check_same_shape(
    owner: Likelihood, expected: tuple[int, ...], output_shape: tuple[int, ...], y_shape: tuple[int, ...], needs: str
) -> None:
    """Refuse targets whose shape is not the expected one, with the remedy for the two shapes that get confused most."""
    if y_shape == expected and len(y_shape) > 0:
        return
    remedy = "change the network's last layer or the targets so that they agree"
    if expected == (*y_shape, 1):
        remedy = "give the targets a last axis, `y[:, None]`"
    elif y_shape == (*expected, 1):
        remedy = "drop the targets' last axis, `y[:, 0]`"
    raise ValueError(f"{type(owner).__name__} needs {needs}, got outputs {output_shape} and y {y_shape}; {remedy}")


def check_numeric(owner: Likelihood, y_dtype: Any, needs: str) -> None:
    """Refuse targets that are not numbers."""
    dtype = jnp.dtype(y_dtype)
    if not (jnp.issubdtype(dtype, jnp.floating) or jnp.issubdtype(dtype, jnp.integer) or dtype == jnp.bool_):
        raise ValueError(f"{type(owner).__name__} needs {needs}, got dtype {dtype.name}; convert the targets")


def refuse(wrong: np.ndarray, values: np.ndarray, owner: Likelihood, what: str, remedy: str) -> None:
    """Raise if any value is wrong, and say which is the first."""
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"{type(owner).__name__}: {int(wrong.sum())} of {values.size} targets wrong; the first, "
            f"y{list(index)} = {values[index]}, is {what}; {remedy}"
        )


def diagonal_root(entries: Array) -> Array:
    """The columns of `fisher_root` where the outputs are independent: [columns, N, columns] from [N, columns]."""
    return jnp.eye(entries.shape[-1], dtype=entries.dtype)[:, None] * entries[None]
