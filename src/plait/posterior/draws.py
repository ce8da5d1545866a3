"""A posterior known by draws, as Markov chains give them: q = 1/S sum_s delta(W - W_s), over all weights together.

It predicts like any other. It has no density: neither the KL nor a gradient can be had from it.
"""

import equinox as eqx
import jax
import jax.numpy as jnp

from plait._typing import Array, PRNGKey, Scalar
from plait.posterior.joint import JointPosterior, Marginal


class DrawsPosterior(JointPosterior):
    """Equally probable draws of several weights."""

    draws: dict[str, Array]
    """By path, [S, ...] each."""

    def __check_init__(self):
        shapes = {path: values.shape for path, values in self.draws.items() if eqx.is_array(values)}
        if any(not shape for shape in shapes.values()) or len({shape[0] for shape in shapes.values()}) > 1:
            raise ValueError(f"draws of several weights must be equally many, on the first axis; got shapes {shapes}")

    @property
    def num_draws(self) -> int:
        """S."""
        return next(iter(self.draws.values())).shape[0]

    @property
    def means(self) -> dict[str, Array]:
        return {path: jnp.mean(values, axis=0) for path, values in self.draws.items()}

    def sample(self, key: PRNGKey) -> dict[str, Array]:
        index = jax.random.randint(key, (), 0, self.num_draws)
        return {path: values[index] for path, values in self.draws.items()}

    def log_prob(self, weights: dict[str, Array]) -> Scalar:
        del weights
        raise ValueError("a posterior known by draws has no density")

    def entropy(self) -> Scalar:
        raise ValueError(
            "a posterior known by draws has no entropy, and so no KL: leave `dataset_size` out of `plait.evaluate`"
        )

    def marginals(self) -> dict[str, Marginal]:
        means = self.means
        return {path: Marginal(means[path], jnp.var(values, axis=0)) for path, values in self.draws.items()}

    @property
    def num_params(self) -> int:
        return sum(values.size for values in self.draws.values())
